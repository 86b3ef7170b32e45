"""Write the demo corpus: made-up support tickets, the same bytes every time."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.examples import CommandWithExamples, examples
from app.cli.terminal import command, out, table, write_json
from app.datasets.demo.corpus import write_demo

app = command("Write a corpus of made-up support tickets to train and test with.")


@app.command(cls=CommandWithExamples, epilog=examples("", "examples/tickets"))
def main(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where train.jsonl and test.jsonl go.")
    ] = Path("demo"),
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the counts as JSON (- stdout).")
    ] = None,
) -> None:
    """Write DIR/train.jsonl and DIR/test.jsonl: `id`, `text` and `labels` in every line."""
    written = write_demo(folder)
    if str(json) != "-":
        rows = [[str(folder / name), f"{count:,}"] for name, count in written.items()]
        table("", ["file", "documents"], rows)
        train = f"labelserve train {folder}/train.jsonl --model demo --test {folder}/test.jsonl"
        out.print(f"train a model on it: {train}", markup=False, soft_wrap=True)
    write_json(json, written)
