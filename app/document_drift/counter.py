"""DriftCounter: the documents of a file, counted while they are read, in little time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.arrays import Scores
from app.document_drift.reference import Counts, DriftReference

ALL_OF_THE_FIRST, ONE_IN = 4096, 16
"""How many documents are all counted, and which share of those behind them."""


class DriftCounter:
    """Counts documents, of long files a sample; the same for the same files."""

    def __init__(self, reference: DriftReference) -> None:
        self._reference = reference
        self._counts: Counts = {}
        self._seen = 0

    def add(self, texts: Sequence[str], scores: Scores) -> None:
        """Count a chunk of documents."""
        numbers = np.arange(self._seen, self._seen + len(texts))
        taken = np.flatnonzero((numbers < ALL_OF_THE_FIRST) | (numbers % ONE_IN == 0))
        self._seen += len(texts)
        if not len(taken):
            return
        chosen = [texts[row] for row in taken.tolist()]
        self.merge(self._reference.counted(chosen, scores[taken]))

    def end_part(self) -> None:
        """A file of the data ends: of each file the first documents are all counted."""
        self._seen = 0

    def tally(self) -> Counts:
        """What was counted of one file."""
        return dict(self._counts)

    def merge(self, counted: Counts) -> None:
        """Add what was counted of a further file."""
        for name, counts in counted.items():
            self._counts[name] = self._counts[name] + counts if name in self._counts else counts

    def figures(self) -> list[dict[str, Any]]:
        """The figure of every measure."""
        return [figure.as_dict() for figure in self._reference.figures(self._counts)]
