"""LibMultiLabel's lines: `[id TAB] labels TAB text`."""

from collections.abc import Iterator

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.input.lines import lines
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets

WITH_ID, WITHOUT_ID = "id TAB labels TAB text", "labels TAB text"
KEYS = ("id", "labels", "text")


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a line; the first line with a TAB fixes whether there is an id.

    Labels are separated by spaces, later tabs belong to the text, blank lines are passed over.
    """
    label_sets, tabs, keeps_cells = LabelSets(options.label_map), 0, options.keeps_cells
    for number, line in lines(source, faults):
        fields = line.split("\t", tabs or 2)
        tabs = tabs or len(fields) - 1
        if len(fields) <= tabs or not tabs:
            _refuse(line, number, tabs, faults)
            continue
        try:
            labels = label_sets(fields[-2].split(" "))
        except BadLabelError as bad:
            faults.refuse(bad, line=number, column=_column(fields, bad.position))
            continue
        id_ = (fields[0] or None) if tabs == 2 else None
        cells = dict(zip(KEYS[-len(fields) :], fields, strict=True)) if keeps_cells else None
        yield Record(fields[-1], labels, id_, number, cells=cells)


def _column(fields: list[str], position: int) -> int:
    """Where the label at this position of the label field begins."""
    names = fields[-2].split(" ")[:position]
    return sum(len(part) + 1 for part in [*fields[:-2], *names]) + 1


def _refuse(line: str, number: int, tabs: int, faults: Faults) -> None:
    if not line or line.isspace():
        return
    accepted = {2: WITH_ID, 1: WITHOUT_ID}.get(tabs, f"{WITHOUT_ID}, or {WITH_ID}")
    problem = "a line with one TAB" if "\t" in line else "a line without a TAB"
    faults.add(problem, line=number, column=len(line) + 1, found=line, accepted=accepted)
