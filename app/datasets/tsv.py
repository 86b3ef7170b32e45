"""LibMultiLabel's lines: `[id TAB] labels TAB text`."""

from collections.abc import Iterator

from app.datasets.base import Document, ReadOptions
from app.datasets.faults import Faults
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.lines import lines
from app.datasets.source import Source

WITH_ID, WITHOUT_ID = "id TAB labels TAB text", "labels TAB text"


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Document]:
    """A document a line; the first line with a TAB fixes whether there is an id.

    Labels are separated by spaces, later tabs belong to the text, blank lines are passed over.
    """
    label_sets, tabs = LabelSets(options.label_map), 0
    for number, line in lines(source, faults):
        tabs = tabs or min(line.count("\t"), 2)
        *before, labels, text = line.split("\t", tabs) if tabs else ("", "")
        if len(before) != tabs - 1:
            _refuse(line, number, tabs, faults)
            continue
        try:
            found = label_sets(labels.split(" "))
        except BadLabelError as bad:
            start = sum(len(field) + 1 for field in before)
            column = start + sum(len(n) + 1 for n in labels.split(" ")[: bad.position]) + 1
            faults.refuse(bad, line=number, column=column)
            continue
        yield Document(text, found, before[0] if before and before[0] else None, number)


def _refuse(line: str, number: int, tabs: int, faults: Faults) -> None:
    if not line or line.isspace():
        return
    accepted = {2: WITH_ID, 1: WITHOUT_ID}.get(tabs, f"{WITHOUT_ID}, or {WITH_ID}")
    problem = "a line with one TAB" if "\t" in line else "a line without a TAB"
    faults.add(problem, line=number, column=len(line) + 1, found=line, accepted=accepted)
