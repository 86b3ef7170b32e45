"""Contingency tables, and how measures of them read 0/0."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
ZeroDivision: TypeAlias = Literal["0", "1", "skip"]


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


@dataclass(frozen=True, slots=True)
class Averaging:
    """How 0/0 is read, and the β of `fbeta`."""

    zero_division: ZeroDivision = "0"
    beta: float = 1.0

    def ratio(self, top: NDArray[Any], bottom: NDArray[Any]) -> Values:
        """top / bottom; where that is 0/0: 0, 1, or NaN for `skip`.

        >>> Averaging("1").ratio(np.array([1, 0]), np.array([2, 0])).tolist()
        [0.5, 1.0]
        """
        instead = {"0": 0.0, "1": 1.0, "skip": np.nan}[self.zero_division]
        undefined = bottom == 0
        return np.where(undefined, instead, top / np.where(undefined, 1, bottom))
