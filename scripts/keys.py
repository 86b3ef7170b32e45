"""API keys: create, list, revoke."""

import installed  # noqa: F401, I001

import os
from pathlib import Path
from typing import Annotated

import typer

from app.serving.keys import Key, KeysFile
from app.cli.terminal import command, out, run, table, write_json

app = command("API keys for the service. Only their hashes are stored; a secret is shown once.")

File = Annotated[
    Path, typer.Option("--file", help="The keys file; default: LABELSERVE_API_KEYS_FILE.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write the result as JSON (- stdout).")]
DEFAULT = Path(os.environ.get("LABELSERVE_API_KEYS_FILE") or "var/keys.json")


@app.command()
def create(
    scope: Annotated[str, typer.Option(help="One or more of predict,evaluate,admin.")],
    models: Annotated[
        str, typer.Option(help="Patterns of models it is limited to, such as 'team-a-*'.")
    ] = "",
    file: File = DEFAULT,
    json: Json = None,
) -> None:
    """Make a key and print its secret: the only time it can be seen."""
    key, secret = KeysFile(file).create(_words(scope), _words(models))
    if json is None:
        out.print(f"key {key.id}, scopes {', '.join(key.scopes)}; its secret, shown only now:")
        out.print(secret, markup=False, soft_wrap=True)
    write_json(json, {**_shown(key), "secret": secret})


@app.command("list")
def list_(file: File = DEFAULT, json: Json = None) -> None:
    """All keys, without their secrets, which nobody has."""
    keys = KeysFile(file).keys()
    rows = [[k.id, ", ".join(k.scopes), ", ".join(k.models) or "all", k.created] for k in keys]
    if json is None:
        table("", ["key", "scopes", "models", "created"], rows, text=4)
    write_json(json, {"keys": [_shown(key) for key in keys]})


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(help="The key's id.")],
    file: File = DEFAULT,
    json: Json = None,
) -> None:
    """Remove a key; running services notice within seconds."""
    KeysFile(file).revoke(id)
    if json is None:
        out.print(f"key {id} is revoked")
    write_json(json, {"revoked": id})


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _shown(key: Key) -> dict[str, object]:
    return {"id": key.id, "scopes": key.scopes, "models": key.models, "created": key.created}


if __name__ == "__main__":
    run(app)
