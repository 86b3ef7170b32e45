"""What a fit will need in memory, by the sizes of its data."""

from typing import NamedTuple

DENSE_CELLS = 200_000_000
"""Up to so many pairs of document and label all held-out scores are kept: 800 MB."""


class DataSizes(NamedTuple):
    """Documents, their stored features (`entries`), columns, labels, and how they are worked on."""

    n_documents: int
    n_entries: int
    n_features: int
    n_labels: int
    n_folds: int = 0
    jobs: int = 1

    @property
    def held_out_bytes(self) -> int:
        """Held-out scores: 4 bytes a pair, and as much for fewer pairs with their labels."""
        if self.n_folds < 2:
            return 0
        return 4 * min(self.n_documents * self.n_labels, DENSE_CELLS)


class FitBytes(NamedTuple):
    """The peak of a fit: with every array in memory, and with those in files that can be."""

    in_memory: int
    mapped: int

    def and_also(self, n_bytes: int) -> "FitBytes":
        """So many bytes more, which files cannot take."""
        return FitBytes(self.in_memory + n_bytes, self.mapped + n_bytes)
