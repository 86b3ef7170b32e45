"""DriftCounter: the documents of a file, counted while they are read, in little time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.arrays import Scores
from app.document_drift.reference import Counts, DriftReference

ALL_OF_THE_FIRST, ONE_IN = 4096, 16
"""How many documents are all counted, and which share of those behind them."""


class DriftCounter:
    """Counts documents, of long files a sample; the same for the same file."""

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
        counted = self._reference.counted(chosen, scores[taken])
        for name, counts in counted.items():
            self._counts[name] = self._counts[name] + counts if name in self._counts else counts

    def figures(self) -> list[dict[str, Any]]:
        """The figure of every measure."""
        return [figure.as_dict() for figure in self._reference.figures(self._counts)]
