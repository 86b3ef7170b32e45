"""DocumentHistogram: one measure of many documents, counted in bins."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

BINS = 10


@dataclass(frozen=True, slots=True)
class DocumentHistogram:
    """How many documents have a value in each bin; a value equal to an edge is below it."""

    edges: NDArray[np.float64]
    """Rising; the first bin is below the first edge, the last one above the last edge."""
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Self:
        """A histogram of about equally full bins; fewer where many values are equal.

        Where many documents share the smallest value, a bin for what is below it is kept free:
        else nobody would see documents come that are smaller still.

        >>> DocumentHistogram.of(np.array([1.0, 1.0, 1.0, 2.0])).counts.tolist()
        [0, 3, 1]
        """
        shares = np.arange(1, BINS) / BINS
        edges = np.unique(np.quantile(values, shares, method="lower"))
        smallest = values.min()
        if edges[0] == smallest:
            edges = np.append(np.nextafter(smallest, -np.inf), edges)
        return cls.at(edges, values)

    @classmethod
    def at(cls, edges: NDArray[np.float64], values: NDArray[np.float64]) -> Self:
        """A histogram of bins that are given."""
        empty = cls(edges, np.zeros(len(edges) + 1, np.int64))
        return cls(edges, empty.counted(values))

    @classmethod
    def from_dict(cls, bins: dict[str, Any]) -> Self:
        """The histogram that `as_dict` gave."""
        return cls(np.array(bins["edges"], np.float64), np.array(bins["counts"], np.int64))

    def counted(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many of other values fall into each of these bins."""
        bins = np.searchsorted(self.edges, values, side="left")
        return np.bincount(bins, minlength=len(self.edges) + 1).astype(np.int64)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for the manifest."""
        return {"edges": self.edges.tolist(), "counts": self.counts.tolist()}
