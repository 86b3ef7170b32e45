"""Write the demo corpus: made-up support tickets, the same bytes every time."""

import installed  # noqa: F401, I001

from pathlib import Path
from typing import Annotated

import typer

from app.datasets.demo.corpus import write_demo
from app.cli.terminal import command, run, table, write_json

app = command("Write a corpus of made-up support tickets to train and test with.")


@app.command()
def main(
    folder: Annotated[Path, typer.Argument(help="Where train.jsonl and test.jsonl are written.")],
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the counts as JSON (- stdout).")
    ] = None,
) -> None:
    """Write DIR/train.jsonl and DIR/test.jsonl: `id`, `text` and `labels` in every line."""
    written = write_demo(folder)
    if str(json) != "-":
        rows = [[str(folder / name), f"{count:,}"] for name, count in written.items()]
        table("", ["file", "documents"], rows)
    write_json(json, written)


if __name__ == "__main__":
    run(app)
