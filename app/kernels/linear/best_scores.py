"""Keeps each document's best scores while scores come in block by block, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel


@kernel
def keep_best(scores: Any, documents: Any, labels: Any, best: Any, best_labels: Any) -> None:
    """Put scores (documents, labels) into each document's heap, whose lowest score stands first."""
    for row in range(len(documents)):
        document = documents[row]
        heap, names = best[document], best_labels[document]
        for column in range(len(labels)):
            if scores[row, column] > heap[0]:
                replace_lowest(heap, names, scores[row, column], labels[column])


@inner
def replace_lowest(heap: Any, names: Any, score: Any, name: Any) -> None:
    """Put a score in the place of the lowest, and let it sink to where it belongs."""
    at, size = 0, len(heap)
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= score:
            break
        heap[at] = heap[child]
        names[at] = names[child]
        at = child
    heap[at] = score
    names[at] = name


def warm() -> None:
    """Compile everything here."""
    one = np.zeros((1, 1), np.float32)
    keep_best(
        one, np.zeros(1, np.int64), np.zeros(1, np.int32), one - 1, np.zeros((1, 1), np.int32)
    )
