"""A file that renames labels: rows of `from,to`."""

from pathlib import Path

from app.datasets.faults import Faults
from app.datasets.formats.csv_rows import delimiter_of, rows
from app.datasets.input.encoding import head_text
from app.datasets.input.limits import Limits
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets

ACCEPTED = "rows of from,to: a label and its new name, or nothing to drop it"


def load_label_map(path: str | Path) -> dict[str, str]:
    """Old label → new label, or "" for a label to drop; a first row `from,to` is a header."""
    source = Source(path, Limits())
    faults = Faults(source.name)
    delimiter = delimiter_of(head_text(source).partition("\n")[0])
    renamed: dict[str, str] = {}
    try:
        for line, row in rows(source, faults, delimiter):
            names = [name.strip() for name in row]
            if line == 1 and [name.lower() for name in names] == ["from", "to"]:
                continue
            if len(names) != 2 or not names[0]:
                raise faults.fatal("not `from,to`", line=line, found=row[0], accepted=ACCEPTED)
            _check(names, line, faults)
            if renamed.setdefault(names[0], names[1]) != names[1]:
                raise faults.fatal(
                    "a label renamed twice", line=line, found=row[0], accepted=ACCEPTED
                )
    finally:
        source.close()
    return renamed


def _check(names: list[str], line: int, faults: Faults) -> None:
    try:
        LabelSets(None)(names)
    except BadLabelError as bad:
        faults.refuse(bad, line=line, column=bad.position + 1)
