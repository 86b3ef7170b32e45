"""API keys: create, list, revoke."""

import os
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Annotated

import typer

from app.cli.terminal import Json, command, out, table, write_json
from app.serving.identity import KeyLimits
from app.serving.keys import Key, KeysFile, lifetime_of

app = command(
    "API keys for the service. Only their hashes are stored; a secret is shown once.",
    "create --scope predict,evaluate --file keys.json",
    "create --scope predict --models 'team-a-*' --expires 90d --requests-per-minute 600",
    "list --file keys.json",
    "revoke 1f3c9a2b --file keys.json",
)

File = Annotated[
    Path, typer.Option("--file", help="The keys file; default: LABELSERVE_API_KEYS_FILE.")
]
DEFAULT = Path(os.environ.get("LABELSERVE_API_KEYS_FILE") or "var/keys.json")


@app.command()
def create(  # noqa: PLR0913
    scope: Annotated[str, typer.Option(help="One or more of predict,evaluate,admin.")],
    models: Annotated[
        str, typer.Option(help="Patterns of models it is limited to, such as 'team-a-*'.")
    ] = "",
    expires: Annotated[
        str, typer.Option(help="How long it is valid, such as 12h, 90d or 8w; default: for ever.")
    ] = "",
    requests_per_minute: Annotated[
        int | None, typer.Option(min=1, help="Requests that it may send in a minute.")
    ] = None,
    documents_per_day: Annotated[
        int | None, typer.Option(min=1, help="Documents that it may have answered in a day, UTC.")
    ] = None,
    file: File = DEFAULT,
    json: Json = None,
) -> None:
    """Make a key and print its secret: the only time it can be seen."""
    key, secret = KeysFile(file).create(
        _words(scope),
        _words(models),
        lifetime=lifetime_of(expires) if expires else None,
        limits=KeyLimits(requests_per_minute, documents_per_day),
    )
    if json is None:
        out.print(f"key {key.id}, scopes {', '.join(key.scopes)}; its secret, shown only now:")
        out.print(secret, markup=False, soft_wrap=True)
    write_json(json, {**_shown(key), "secret": secret})


@app.command("list")
def list_(file: File = DEFAULT, json: Json = None) -> None:
    """All keys, without their secrets, which nobody has."""
    keys = KeysFile(file).keys()
    if json is None and not keys:
        make = f"labelserve keys create --scope predict,evaluate --file {file}"
        out.print(f"no keys in {file}; make one: {make}", markup=False, soft_wrap=True)
    elif json is None:
        columns = ["key", "scopes", "models", "created", "expires", "a minute", "documents a day"]
        table("", columns, [_row(key) for key in keys], text=5)
    write_json(json, {"keys": [_shown(key) for key in keys]})


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")],
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


def _row(key: Key) -> list[str]:
    expires = "never" if key.expires is None else f"{key.expires:%Y-%m-%d %H:%M}"
    limits = [str(limit or "no limit") for limit in astuple(key.limits)]
    models = ", ".join(key.models) or "all"
    return [key.id, ", ".join(key.scopes), models, key.created[:10], expires, *limits]


def _shown(key: Key) -> dict[str, object]:
    """All that is known of a key but the hash of its secret; None where nothing was set."""
    return {
        "id": key.id,
        "scopes": key.scopes,
        "models": key.models,
        "created": key.created,
        "expires": key.expires and key.expires.isoformat(),
        **asdict(key.limits),
    }
