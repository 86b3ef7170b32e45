"""Contingency tables and the measures that each is one formula of (Lewis 1991, Yang 1999)."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
ZeroDivision: TypeAlias = Literal["0", "1", "skip"]

MEASURES = ("precision", "recall", "f1", "fbeta", "fallout", "overlap", "accuracy", "error")


@dataclass(frozen=True, slots=True)
class Cells:
    """Right and wrong decisions; one table a label, one a document, or one alone."""

    tp: Integers
    fp: Integers
    fn: Integers
    tn: Integers

    def take(self, which: Integers | NDArray[np.bool_]) -> "Cells":
        """Some of the tables."""
        return Cells(self.tp[which], self.fp[which], self.fn[which], self.tn[which])

    def total(self) -> "Cells":
        """The tables added up into one."""
        sums = (np.atleast_1d(cell.sum()) for cell in (self.tp, self.fp, self.fn, self.tn))
        return Cells(*sums)

    @property
    def support(self) -> Integers:
        """True pairs of each table."""
        return self.tp + self.fn


def measure(
    name: str, cells: Cells, *, beta: float = 1.0, zero_division: ZeroDivision = "0"
) -> Values:
    """One of `MEASURES` for each table; NaN marks a 0/0 that is to be skipped.

    >>> one = Cells(*(np.array([n]) for n in (1, 1, 1, 1)))
    >>> measure("precision", one).tolist(), measure("overlap", one).round(4).tolist()
    ([0.5], [0.3333])
    """
    if name == "f1":
        return f_beta(cells, 1.0, zero_division)
    if name == "fbeta":
        return f_beta(cells, beta, zero_division)
    a, b, c, d = cells.tp, cells.fp, cells.fn, cells.tn
    top, bottom = {
        "precision": (a, a + b),
        "recall": (a, a + c),
        "fallout": (b, b + d),
        "overlap": (a, a + b + c),
        "accuracy": (a + d, a + b + c + d),
        "error": (b + c, a + b + c + d),
    }[name]
    return ratio(top, bottom, zero_division)


def f_beta(cells: Cells, beta: float, zero_division: ZeroDivision = "0") -> Values:
    """F_β = (1+β²)a / ((1+β²)a + b + β²c) for each table."""
    square = beta * beta
    top = (1 + square) * cells.tp
    return ratio(top, top + cells.fp + square * cells.fn, zero_division)


def ratio(top: NDArray[Any], bottom: NDArray[Any], zero_division: ZeroDivision = "0") -> Values:
    """top / bottom; where that is 0/0: 0, 1, or NaN for `skip`."""
    instead = {"0": 0.0, "1": 1.0, "skip": np.nan}[zero_division]
    undefined = bottom == 0
    return np.where(undefined, instead, top / np.where(undefined, 1, bottom))
