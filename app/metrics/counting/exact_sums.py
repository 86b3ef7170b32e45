"""ExactSums: sums that do not depend on the order of their numbers, nor on how they were grouped.

Numbers are cut to multiples of 2⁻⁷² and added as integers. Sums of floats would differ in their
last digits wherever chunks or partitions of documents end elsewhere.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray

BITS, LIMBS = 24, 3
SCALE = float(1 << BITS)


class ExactSums:
    """A sum for each of some columns; up to 2³⁹ numbers, each below 2²⁹."""

    def __init__(self, width: int) -> None:
        self.limbs = np.zeros((LIMBS, width), np.int64)

    def add(self, values: NDArray[np.float64]) -> None:
        """Add rows of values, a value a column.

        >>> one, other = ExactSums(1), ExactSums(1)
        >>> one.add(np.array([[0.1], [0.2], [0.3]]))
        >>> other.add(np.array([[0.3], [0.2], [0.1]]))
        >>> one.totals() == other.totals(), one.totals().tolist()
        (array([ True]), [0.6])
        """
        for limb, whole in zip(self.limbs, _limbs(values), strict=True):
            limb += whole.astype(np.int64).sum(axis=0)

    def add_at(self, columns: NDArray[np.int64], values: NDArray[np.floating]) -> None:
        """Add each value to the sum of its column."""
        for limb, whole in zip(self.limbs, _limbs(values), strict=True):
            # Sums of whole numbers below 2⁵³ are exact, also as floats.
            limb += np.bincount(columns, whole, minlength=len(limb)).astype(np.int64)

    def merge(self, limbs: NDArray[np.int64]) -> Self:
        """Add what another one holds."""
        self.limbs += limbs
        return self

    def totals(self) -> NDArray[np.float64]:
        """The sums, each rounded once."""
        sums = [0] * self.limbs.shape[1]
        for limb in self.limbs.tolist():
            sums = [(above << BITS) + own for above, own in zip(sums, limb, strict=True)]
        return np.array([one / (1 << BITS * LIMBS) for one in sums], np.float64)


def _limbs(values: NDArray[np.floating]) -> list[NDArray[np.float64]]:
    """The values' digits to the base 2²⁴ behind the point, the first with all before it."""
    rest, digits = np.asarray(values, np.float64), []
    for _ in range(LIMBS):
        rest = rest * SCALE
        digits.append(np.floor(rest))
        rest = rest - digits[-1]
    return digits
