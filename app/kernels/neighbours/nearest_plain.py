"""The nearest training documents of sparse rows, by an inverted index, in scipy."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array


def nearest(rows: Any, postings: Any, similarities: Any, documents: Any, found: Any) -> None:
    """Write the k most similar documents of each CSR row, best first, and their similarities.

    `postings` is the index (starts, documents, values) by feature; `similarities` and `documents`
    are (rows, k), filled with 0 and -1; `found` is a work array with a 0 for every document.
    Documents that share no feature with the row are never among them. Ties go to the lower number.
    """
    (starts, columns, values), (by_feature, numbers, weights) = rows, postings
    span = slice(starts[0], starts[-1])
    queries = csr_array(
        (values[span], columns[span], starts - starts[0]), (len(starts) - 1, len(by_feature) - 1)
    )
    index = csr_array((weights, numbers, by_feature), (len(by_feature) - 1, len(found)))
    products = csr_array(queries @ index)
    for row in range(len(similarities)):
        own = slice(products.indptr[row], products.indptr[row + 1])
        order = np.lexsort((products.indices[own], -products.data[own]))[: similarities.shape[1]]
        best = products.data[own][order]
        order = order[best > 0]
        similarities[row, : len(order)] = products.data[own][order]
        documents[row, : len(order)] = products.indices[own][order]


def warm() -> None:
    """There is nothing to compile."""
