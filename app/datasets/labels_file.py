"""A labels file: what labels are called, what they mean, and which label stands above each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.datasets.faults import Faults
from app.datasets.formats.csv_rows import delimiter_of, rows
from app.datasets.formats.json_array import elements
from app.datasets.input.encoding import head_text
from app.datasets.input.limits import Limits
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets
from app.labels import LabelEntry, LabelIndex

COLUMNS = LabelEntry._fields
ACCEPTED = "label, name, description, parent"
LONGEST_DESCRIPTION = 10_000


@dataclass(frozen=True, slots=True)
class LabelsFile:
    """The entries in their order, and the SHA-256 of the bytes."""

    entries: tuple[LabelEntry, ...]
    sha256: str

    def counts(self, labels: LabelIndex) -> dict[str, int]:
        """How the file and the labels of the data fit together."""
        known = {entry.label for entry in self.entries}
        shared = Counter(entry.name for entry in self.entries if entry.name)
        return {
            "labels_file_entries": len(self.entries),
            "labels_file_not_in_data": len(known - labels.columns.keys()),
            "labels_not_in_labels_file": len(labels.columns.keys() - known),
            "labels_of_equal_name": sum(count for count in shared.values() if count > 1),
        }


def load_labels_file(path: str | Path) -> LabelsFile:
    """The entries of a TSV (or CSV) file, or of a JSON array of objects.

    A first row that names none of the columns is no header: then they stand in their order.

    A label given twice, a parent that is no label of the file and a circle are refused, each by its
    line, and so are other columns.
    """
    source = Source(path, Limits())
    faults = Faults(source.name)
    try:
        found = _numbered_entries(source, faults)
    finally:
        source.close()
    _check_parents(found, faults)
    return LabelsFile(tuple(entry for _, entry in found.values()), source.sha256)


def _numbered_entries(source: Source, faults: Faults) -> dict[str, tuple[int, LabelEntry]]:
    """The entries and their lines, by label."""
    is_json = head_text(source).lstrip().startswith("[")
    read = _objects(source, faults) if is_json else _table(source, faults)
    checked, found = LabelSets(None), dict[str, tuple[int, LabelEntry]]()
    for line, values in read:
        entry = _entry(values, line, checked, faults)
        if entry.label in found:
            problem = f"a label that stands in line {found[entry.label][0]}, too"
            raise faults.fatal(problem, line=line, found=entry.label, accepted="each label once")
        found[entry.label] = line, entry
    if not found:
        raise faults.fatal("no labels", line=1, accepted=f"a header ({ACCEPTED}) and rows")
    return found


def _table(source: Source, faults: Faults) -> Iterator[tuple[int, Mapping[str, Any]]]:
    first = head_text(source).lstrip("\r\n").partition("\n")[0]
    delimiter = "\t" if "\t" in first else delimiter_of(first)
    header: list[str] = []
    for line, row in rows(source, faults, delimiter):
        if not header:
            named = [name.strip().lower() for name in row]
            header = named if set(named) & set(COLUMNS) else list(COLUMNS)
            _check_columns(header, line, faults)
            if header is named:
                continue
        if len(row) > len(header):
            extra = f"{len(row)} fields below {len(header)} columns"
            raise faults.fatal(extra, line=line, column=len(header) + 1)
        yield line, dict(zip(header, row, strict=False))


def _check_columns(names: list[str], line: int, faults: Faults) -> None:
    for column, name in enumerate(names, start=1):
        if name not in COLUMNS or name in names[: column - 1]:
            problem = "a column twice" if name in COLUMNS else "an unknown column"
            raise faults.fatal(problem, line=line, column=column, found=name, accepted=ACCEPTED)
    if "label" not in names:
        raise faults.fatal("no column label", line=line, accepted=ACCEPTED)


def _objects(source: Source, faults: Faults) -> Iterator[tuple[int, Mapping[str, Any]]]:
    accepted = f"an array of objects with {ACCEPTED}"
    for line, value in elements(source, faults):
        if not isinstance(value, dict):
            raise faults.fatal("an element that is no object", line=line, accepted=accepted)
        for key, content in value.items():
            if key not in COLUMNS:
                raise faults.fatal("an unknown column", line=line, found=key, accepted=accepted)
            if not isinstance(content, str | None):
                raise faults.fatal(f'a wrong value of "{key}"', line=line, accepted="a string")
        yield line, value


def _entry(values: Mapping[str, Any], line: int, checked: LabelSets, faults: Faults) -> LabelEntry:
    label, name, description, parent = ((values.get(key) or "").strip() for key in COLUMNS)
    if not label:
        raise faults.fatal("no label", line=line, accepted="a label in every row")
    try:
        checked([label, name, parent])
    except BadLabelError as bad:
        faults.refuse(bad, line=line, column=1)
    is_utf8 = not any("\ud800" <= character <= "\udfff" for character in description)
    if len(description) > LONGEST_DESCRIPTION or not is_utf8:
        accepted = f"at most {LONGEST_DESCRIPTION} characters of UTF-8"
        raise faults.fatal("a description that cannot be kept", line=line, accepted=accepted)
    return LabelEntry(label, name, description, parent)


def _check_parents(entries: Mapping[str, tuple[int, LabelEntry]], faults: Faults) -> None:
    for line, entry in entries.values():
        if entry.parent and entry.parent not in entries:
            raise faults.fatal(
                "an unknown parent", line=line, found=entry.parent, accepted="a label of this file"
            )
    circle = _circle({label: entry.parent for label, (_, entry) in entries.items()})
    if circle:
        line, first = min((entries[label][0], label) for label in circle)
        start = circle.index(first)
        found = " → ".join([*circle[start:], *circle[:start], first])
        raise faults.fatal(
            "a label that is its own ancestor", line=line, found=found, accepted="a tree of labels"
        )


def _circle(parents: Mapping[str, str]) -> list[str]:
    """The labels of a circle, each followed by its parent; nothing where all ways end."""
    settled: set[str] = set()
    for label in parents:
        path: dict[str, None] = {}
        above = label
        while above and above not in settled:
            if above in path:
                walked = list(path)
                return walked[walked.index(above) :]
            path[above] = None
            above = parents[above]
        settled.update(path)
    return []
