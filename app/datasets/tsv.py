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
        fields = line.split("\t", tabs or 1)
        if len(fields) <= max(tabs, 1):
            if line.strip():
                _refuse(line, number, tabs, faults)
            continue
        try:
            labels = label_sets(fields[-2].split(" "))
        except BadLabelError as bad:
            before = len(fields[0]) + 1 if tabs == 2 else 0
            before += len(" ".join(fields[-2].split(" ")[: bad.position])) + (bad.position > 0)
            faults.add(
                bad.problem,
                line=number,
                column=before + 1,
                found=bad.label,
                accepted=LabelSets.accepted,
            )
            continue
        yield Document(fields[-1], labels, fields[0] or None if tabs == 2 else None, number)


def _refuse(line: str, number: int, tabs: int, faults: Faults) -> None:
    accepted = {2: WITH_ID, 1: WITHOUT_ID}.get(tabs, f"{WITHOUT_ID}, or {WITH_ID}")
    problem = "a line without a TAB" if "\t" not in line else "a line with one TAB"
    faults.add(problem, line=number, column=len(line) + 1, found=line, accepted=accepted)
