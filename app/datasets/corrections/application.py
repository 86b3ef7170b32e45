"""corrected_labels: a data set's label sets as a corrections file says they should be."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.datasets.corrections.correction import CorrectionsFile, LabelCorrection
from app.datasets.corrections.counts import CorrectionCounts
from app.datasets.faults import LISTED, Fault
from app.errors import InvalidDataError

CHANGES = ("take", "drop")


@dataclass(frozen=True, slots=True)
class DocumentLabels:
    """The label sets of a data set, and what its documents are called."""

    label_sets: list[tuple[str, ...]]
    ids: Sequence[str | None]
    lines: Any
    sha256: str


def corrected_labels(
    data: DocumentLabels, file: CorrectionsFile
) -> tuple[list[tuple[str, ...]], CorrectionCounts]:
    """The label sets after all decisions, and what these did.

    A line counts where the file says that it is of this very data, or says nothing; else the id
    does. A decision that no document or label fits is counted and named, never applied; two that
    contradict each other are refused.
    """
    finder = _Finder(data, file)
    corrected, counts = list(data.label_sets), Counter[str]()
    decided: dict[tuple[int, str], LabelCorrection] = {}
    not_applied: list[Fault] = []
    for one in file.corrections:
        row, problem = finder.document(one)
        before = one if row is None else decided.setdefault((row, one.label), one)
        if row is None:
            counts["unmatched"] += 1
        elif before is not one:
            problem = _repetition(file, before, one)
            counts["repeated"] += 1
        else:
            counts[_applied(corrected, row, one)] += 1
        if problem:
            not_applied.append(Fault(one.number, problem))
    if file.corrections and counts["unmatched"] == len(file.corrections):
        raise _nothing_fits(data, file, not_applied[0])
    found = CorrectionCounts(file.sha256, **counts, not_applied=tuple(not_applied[:LISTED]))
    return corrected, found


def _nothing_fits(data: DocumentLabels, file: CorrectionsFile, first: Fault) -> InvalidDataError:
    """The error where no decision fits the data: mostly these are others, or read otherwise."""
    has_ids = any(one.id is not None for one in file.corrections)
    unread = "; the data were read without ids: give --id-column" if not any(data.ids) else ""
    return InvalidDataError(
        f"no decision fits the data: {first.problem}",
        file=file.name,
        line=first.line,
        accepted="corrections of this data, read as it was for its suspects",
        hint=unread.removeprefix("; ") if has_ids else "",
    )


class _Finder:
    """Finds the document of a correction."""

    def __init__(self, data: DocumentLabels, file: CorrectionsFile) -> None:
        self.data, self.file = data, file
        lines = data.lines.tolist() if data.lines is not None else range(1, len(data.ids) + 1)
        self._by_line = _rows_of(lines)
        self._by_id = _rows_of(data.ids)
        self._labels = {label for labels in data.label_sets for label in labels}

    def document(self, one: LabelCorrection) -> tuple[int | None, str]:
        """Its row, or what does not fit."""
        if one.label not in self._labels:
            return None, "no document has this label"
        if one.line is not None and self.data.sha256.startswith(one.data):
            rows = self._by_line.get(one.line, [])
            if one.id is not None:
                rows = [row for row in rows if self.data.ids[row] == one.id]
        elif one.id is not None:
            rows = self._by_id.get(one.id, [])
        else:
            problem = "the line is of other data, and there is no id"
            raise self.file.fault(one, problem, "corrections of this data")
        if len(rows) == 1:
            return rows[0], ""
        return None, f"{len(rows) or 'no'} documents have this line and id"


def _applied(corrected: list[tuple[str, ...]], row: int, one: LabelCorrection) -> str:
    """Change one label set; what came of it, as `CorrectionCounts` names it."""
    if one.decision not in CHANGES:
        return "kept"
    has_label = one.label in corrected[row]
    if has_label == (one.decision == "take"):
        return "already_so"
    if has_label:
        corrected[row] = tuple(label for label in corrected[row] if label != one.label)
        return "removed"
    corrected[row] = (*corrected[row], one.label)
    return "added"


def _rows_of(names: Iterable[Hashable]) -> dict[Hashable, list[int]]:
    """The rows that have each name."""
    rows: dict[Hashable, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    return rows


def _repetition(file: CorrectionsFile, before: LabelCorrection, one: LabelCorrection) -> str:
    """What to say of a decision on a pair that was decided before; another one is refused."""
    if before.decision != one.decision:
        problem = f"contradicts line {before.number}, which says {before.decision or 'nothing'}"
        raise file.fault(one, problem, "one decision for a document and a label")
    return f"repeats line {before.number}"
