"""Groups by edges: labels by training frequency, documents by labels or length (Lewis 1991)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Neighbouring groups; each begins at an edge and ends before the next, the last never."""

    starts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.starts)

    def group(self, values: NDArray[Any]) -> Integers:
        """Which group each value belongs to.

        >>> Edges((0, 1, 5)).group(np.array([0, 4, 5, 99])).tolist()
        [0, 1, 2, 2]
        """
        return np.asarray(np.searchsorted(self.starts, values, side="right") - 1)

    def bounds(self, group: int) -> dict[str, int | None]:
        """`from` and `to`, both inclusive; `to` is None for the last group."""
        last = group == len(self.starts) - 1
        to = None if last else self.starts[group + 1] - 1
        return {"from": self.starts[group], "to": to}


LABEL_FREQUENCY = Edges((0, 1, 5, 10, 50, 100, 1000))
DOCUMENT_LABELS = Edges((0, 1, 2, 3, 5, 10, 20))
DOCUMENT_LENGTH = Edges((0, 100, 300, 1000, 3000, 10_000, 30_000))
"""In characters of the text; in features where they are ready-made."""
