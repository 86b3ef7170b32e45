"""The nearest training documents of sparse rows, by an inverted index, compiled."""

from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import inner, kernel


@kernel
def nearest(rows: Any, postings: Any, similarities: Any, documents: Any, found: Any) -> None:
    """Write the k most similar documents of each CSR row, best first, and their similarities.

    `postings` is the index (starts, documents, values) by feature; `similarities` and `documents`
    are (rows, k), filled with 0 and -1; `found` is a work array with a 0 for every document.
    Documents that share no feature with the row are never among them. Ties go to the lower number.
    """
    starts, columns, values = rows
    posting_starts, posting_documents, posting_values = postings
    for row in range(len(starts) - 1):
        found[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, column = values[at], columns[at]
            for entry in range(posting_starts[column], posting_starts[column + 1]):
                found[posting_documents[entry]] += value * posting_values[entry]
        _keep_best(found, similarities[row], documents[row])


@inner
def _keep_best(found: Any, similarities: Any, documents: Any) -> None:
    """Insert each similarity that beats the worst of the best so far at its rank.

    Almost none does, so that keeping the few in order costs less than a heap.
    """
    last = len(similarities) - 1
    for document in range(len(found)):
        similarity = found[document]
        if similarity <= similarities[last]:
            continue
        rank = last
        while rank > 0 and similarities[rank - 1] < similarity:
            similarities[rank] = similarities[rank - 1]
            documents[rank] = documents[rank - 1]
            rank -= 1
        similarities[rank] = similarity
        documents[rank] = document


def warm() -> None:
    """Compile everything here."""
    one, zero = np.ones(1, np.float32), np.zeros(1, np.int32)
    rows = (read_only(np.array([0, 1])), read_only(zero), read_only(one))
    similarities, documents = np.zeros((1, 1), np.float32), np.full((1, 1), -1, np.int32)
    nearest(rows, rows, similarities, documents, np.zeros(1, np.float32))
