"""PartSummary: what reading one of several files found, and how those add up to one Summary."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Self

from app.datasets.base import Summary
from app.datasets.faults import LISTED, Fault
from app.datasets.reading import Reading
from app.datasets.suspicions import suspicions
from app.errors import InvalidDataError


@dataclass(frozen=True, slots=True)
class PartSummary:
    """The counts of one file, and what cannot be told from counts alone."""

    documents: int
    pairs: int
    empty_texts: int
    unlabelled: int
    dropped: int
    skipped: int
    skipped_lines: list[list[Any]]
    bytes: int
    sha256: str
    label_separator: str
    warnings: list[str]
    label_names: list[str]
    last_line: int

    @classmethod
    def of(cls, reading: Reading, dropped: int = 0) -> Self:
        """What was found by reading one file as the only part of a data set.

        `dropped` is how many of its documents were left out since.
        """
        found, (digest,) = reading.summary, reading.source.absorbed
        return cls(
            *(found.documents - dropped, found.pairs, found.empty_texts, found.unlabelled),
            *(found.dropped + dropped, found.skipped),
            [[fault.line, fault.problem] for fault in found.skipped_lines],
            found.bytes,
            digest,
            found.label_separator,
            reading.reader_warnings,
            sorted(reading.label_names),
            reading.last_line,
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


def whole_summary(parts: Sequence[PartSummary]) -> Summary:
    """The summary of reading all files, one after another."""
    labels = {name for part in parts for name in part.label_names}
    pairs = sum(part.pairs for part in parts)
    faults = [Fault(line, problem) for part in parts for line, problem in part.skipped_lines]
    warnings = [warning for part in parts for warning in part.warnings]
    return Summary(
        documents=sum(part.documents for part in parts),
        labels=len(labels),
        pairs=pairs,
        empty_texts=sum(part.empty_texts for part in parts),
        unlabelled=sum(part.unlabelled for part in parts),
        dropped=sum(part.dropped for part in parts),
        skipped=sum(part.skipped for part in parts),
        skipped_lines=tuple(faults[:LISTED]),
        bytes=sum(part.bytes for part in parts),
        sha256=sha256("".join(f"\0{part.sha256}\n" for part in parts).encode()).hexdigest(),
        label_separator=_separator(parts),
        warnings=(*warnings, *suspicions(labels, pairs)),
    )


def _separator(parts: Sequence[PartSummary]) -> str:
    """How all files separate labels; "" where none do."""
    found = sorted({part.label_separator for part in parts} - {""})
    if len(found) > 1:
        raise InvalidDataError(
            "the files separate labels in different ways", accepted="one --label-separator for all"
        )
    return found[0] if found else ""
