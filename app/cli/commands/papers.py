"""Give the papers' tables again: the published figure beside ours, cell by cell."""

from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from app.catalogue import find
from app.cli.examples import CommandWithExamples, examples
from app.cli.terminal import Json, command, out, progress_bars, table, write_json
from app.papers import TABLES
from app.papers.experiments import Experiments
from app.papers.page import papers_page
from app.papers.rows import COLUMNS, PaperTable, shown

app = command("The papers' tables again: the published figure beside ours, cell by cell.")

ALL = "all"
EXAMPLES = examples("lewis", "pillai-table3 --data corpora --runs 2", "all --html papers.html")


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
def main(
    name: Annotated[
        str, typer.Argument(metavar="TABLE", help=f"One of: {', '.join(TABLES)}, {ALL}.")
    ],
    data: Annotated[
        Path,
        typer.Option(help="The folder with reuters, yeast and scene, each with train.* and test.*"),
    ] = Path("data"),
    runs: Annotated[int, typer.Option(help="Runs where the paper has ten.", min=1)] = 10,
    json: Json = None,
    html: Annotated[Path | None, typer.Option(help="Write a page, with the figures.")] = None,
) -> None:
    """Print every cell; one that cannot be had is printed with the reason."""
    makers = [find(TABLES, one, "table") for one in (TABLES if name == ALL else [name])]
    with progress_bars() as progress:
        experiments = Experiments(data, runs, progress)
        tables: list[PaperTable] = []
        for maker in makers:
            tables.append(maker(experiments))
            if str(json) != "-":
                _show(tables[-1])
    write_json(json, {"runs": runs, "tables": [own.as_dict() for own in tables]})
    if html:
        html.write_text(papers_page(tables), encoding="utf-8")


def _show(own: PaperTable) -> None:
    """The figures as a table, and below it where each came from: sentences need the width."""
    rows = [shown(row) for row in own.rows]
    figures = [[*row[:4], row[6]] for row in rows]
    table(own.title, [*COLUMNS[:4], COLUMNS[6]], figures)
    for (data, method), alike in groupby(rows, key=lambda row: (row[4], row[5])):
        cells = [row[0] for row in alike]
        which = cells[0] if len(cells) == 1 else f"{cells[0]} … {cells[-1]} ({len(cells)})"
        sentence = f"{which}: same data? {data}; same method? {method}"
        out.print(sentence, markup=False, soft_wrap=True)
    for note in own.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
