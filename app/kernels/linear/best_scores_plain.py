"""Keeps each document's best scores while scores come in block by block, in plain Python."""

from heapq import heapreplace
from typing import Any

import numpy as np


def keep_best(scores: Any, documents: Any, labels: Any, best: Any, best_labels: Any) -> None:
    """Put scores (documents, labels) into each document's heap, whose lowest score stands first."""
    rows, columns = np.nonzero(scores > best[documents, 0][:, None])
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        document = documents[row]
        if scores[row, column] > best[document, 0]:
            pairs = list(zip(best[document].tolist(), best_labels[document].tolist(), strict=True))
            heapreplace(pairs, (float(scores[row, column]), int(labels[column])))
            best[document], best_labels[document] = map(list, zip(*pairs, strict=True))


def warm() -> None:
    """There is nothing to compile."""
