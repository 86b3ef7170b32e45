"""Heaps of each document's k best scores, while scores come in block by block, in plain Python."""

from heapq import heapreplace
from typing import Any

import numpy as np


def push_scores(scores: Any, documents: Any, labels: Any, best: Any, best_labels: Any) -> None:
    """Push scores (documents, labels) to the heaps `best`, and their labels beside them.

    A heap's lowest score comes first; a score must be higher to replace it.
    """
    rows, columns = np.nonzero(scores > best[documents, 0][:, None])
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        document = documents[row]
        if scores[row, column] > best[document, 0]:
            pairs = list(zip(best[document].tolist(), best_labels[document].tolist(), strict=True))
            heapreplace(pairs, (float(scores[row, column]), int(labels[column])))
            best[document], best_labels[document] = map(list, zip(*pairs, strict=True))


def warm() -> None:
    """There is nothing to compile."""
