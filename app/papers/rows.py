"""PaperTable: the cells of a published table, each beside our value or the reason why not."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean, stdev
from typing import Any

SAME = "yes"


@dataclass(frozen=True, slots=True)
class Measured:
    """A value of ours, how far it varies, and what it cost."""

    value: float
    sd: float | None = None
    sd_over: str = ""
    """What the deviation is over: `10 runs`, `bootstrap`; empty where there is none."""
    seconds: float | None = None
    """CPU seconds of the fits behind it; those of a cell that shares them are the same ones."""

    @classmethod
    def over_runs(cls, values: Sequence[float], seconds: float) -> "Measured":
        """Mean and sample standard deviation (n − 1) over runs."""
        sd = stdev(values) if len(values) > 1 else None
        return cls(mean(values), sd, f"{len(values)} runs" if sd is not None else "", seconds)


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One cell of a paper, and what stands beside it."""

    cell: str
    published: float | None
    """None: the paper draws it and prints no number."""
    ours: Measured | None = None
    same_data: str = SAME
    """`yes`, `another split: …`, or `absent: why`."""
    same_method: str = SAME
    """`yes`, or `differs: how`."""
    published_sd: float | None = None
    digits: int = 3

    @property
    def difference(self) -> float | None:
        """Ours less the published value; None where one of them is missing."""
        if self.ours is None or self.published is None:
            return None
        return self.ours.value - self.published

    def as_dict(self) -> dict[str, Any]:
        """What `--json` has of it."""
        return {**asdict(self), "difference": self.difference}


def absent(cell: str, published: float | None, why: str, sd: float | None = None) -> PaperRow:
    """A cell that cannot be had here, with the reason."""
    return PaperRow(cell, published, None, f"absent: {why}", "–", sd)


@dataclass(frozen=True, slots=True)
class PaperTable:
    """All cells of one table, notes below it, and figures as SVG by title."""

    name: str
    title: str
    rows: list[PaperRow]
    notes: list[str] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    series: dict[str, Any] = field(default_factory=dict)
    """The numbers behind the figures."""

    def as_dict(self) -> dict[str, Any]:
        """What `--json` has of it; the figures are for `--html`."""
        return {
            "name": self.name,
            "title": self.title,
            "rows": [row.as_dict() for row in self.rows],
            "notes": self.notes,
            "series": self.series,
        }


COLUMNS = ["cell", "published", "ours", "difference", "same data?", "same method?", "CPU s"]


def shown(row: PaperRow) -> list[str]:
    """The row as text, column by column."""
    ours, digits = row.ours, row.digits
    published = _with_sd(row.published, row.published_sd, digits)
    value = "–" if ours is None else _with_sd(ours.value, ours.sd, digits)
    difference = "" if row.difference is None else f"{row.difference:+,.{digits}f}"
    seconds = "" if ours is None or ours.seconds is None else f"{ours.seconds:.1f}"
    return [row.cell, published, value, difference, row.same_data, row.same_method, seconds]


def _with_sd(value: float | None, sd: float | None, digits: int) -> str:
    """
    >>> _with_sd(0.88, 0.002, 3), _with_sd(None, None, 3)
    ('0.880 ± 0.002', '')
    """
    if value is None:
        return ""
    return f"{value:,.{digits}f}" + ("" if sd is None else f" ± {sd:,.{digits}f}")
