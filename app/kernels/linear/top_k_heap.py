"""Heaps of each document's k best scores, while scores come in block by block, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel


@kernel
def push_scores(scores: Any, documents: Any, labels: Any, best: Any, best_labels: Any) -> None:
    """Push scores (documents, labels) to the heaps `best`, and their labels beside them.

    A heap's lowest score comes first; a score must be higher to replace it.
    """
    for row in range(len(documents)):
        document = documents[row]
        heap, heap_labels = best[document], best_labels[document]
        for column in range(len(labels)):
            if scores[row, column] > heap[0]:
                replace_lowest(heap, heap_labels, scores[row, column], labels[column])


@inner
def replace_lowest(heap: Any, heap_labels: Any, score: Any, label: Any) -> None:
    """Replace the lowest score by a higher one, and sift it down to its level."""
    at, size = 0, len(heap)
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= score:
            break
        heap[at] = heap[child]
        heap_labels[at] = heap_labels[child]
        at = child
    heap[at] = score
    heap_labels[at] = label


def warm() -> None:
    """Compile everything here."""
    one = np.zeros((1, 1), np.float32)
    push_scores(
        one, np.zeros(1, np.int64), np.zeros(1, np.int32), one - 1, np.zeros((1, 1), np.int32)
    )
