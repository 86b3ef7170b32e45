"""From a text's bytes to its labels' scores and best labels in one call, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel, outlined
from app.kernels.intrinsics import LANES, any_greater, load, splat, table_reader
from app.kernels.linear.accumulation import accumulate_dense, accumulate_sparse
from app.kernels.linear.weight_table import WeightTable
from app.kernels.text.counting import (
    count_columns,
    known_columns,
    longest_text,
    max_columns,
    new_tokens,
    text_table,
)
from app.kernels.text.tfidf import weigh

weight_table = table_reader(WeightTable)


@kernel
def score_texts(text: Any, ends: Any, part: Any, texts: Any, weights: Any, scores: Any) -> None:
    """Write the scores of the texts from `part` (first, stop), the first to the first row."""
    first, stop = part
    tables = (text_table(texts), weight_table(weights))
    buffers = new_buffers(longest_text(ends, first, stop), tables[0])
    begin = ends[first - 1] if first else 0
    for i in range(first, stop):
        accumulate(text, (begin, ends[i]), tables, buffers, scores[i - first])
        begin = ends[i]


@inner
def score_text(text: Any, texts: Any, weights: Any, scores: Any) -> None:
    """Write the scores of one text; `texts` and `weights` are array tables."""
    tables = (text_table(texts), weight_table(weights))
    buffers = new_buffers(len(text), tables[0])
    accumulate(text, (np.int64(0), len(text)), tables, buffers, scores)


@kernel
def rank_rows(scores: Any, labels: Any, best: Any) -> None:
    """Write the best labels of each row of scores, and their scores."""
    for row in range(len(scores)):
        top_k(scores[row], labels[row], best[row])


@inner
def new_buffers(n_bytes: Any, texts: Any) -> Any:
    """Buffers for the tokens, columns, counts and weights of any text of so many bytes."""
    n_terms = max_columns(n_bytes + 3, texts) + 1
    tokens = new_tokens(n_bytes, texts.segmentation)
    columns, counts = np.empty(n_terms, np.int32), np.empty(n_terms, np.int32)
    values, hot_values = np.empty(n_terms, np.float32), np.empty(n_terms, np.float32)
    hot = (np.empty(n_terms, np.int64), hot_values)
    return tokens, columns, counts, np.empty(n_terms), values, hot


@outlined
def accumulate(text: Any, span: Any, tables: Any, buffers: Any, scores: Any) -> None:
    """Write the scores of the text at `span` (begin, end)."""
    texts, (frequency, binary, idf, weights) = tables
    tokens, columns, counts, exact, values, hot = buffers
    n_known = known_columns(text, span, texts, tokens, columns)
    n_columns = count_columns(columns, n_known, counts)
    if binary:
        counts[:n_columns] = 1
    weigh(columns[:n_columns], counts, idf, frequency, exact, values)
    if len(weights.dense):
        accumulate_dense(weights, columns[:n_columns], values, hot[0], scores)
    else:
        accumulate_sparse(weights, columns[:n_columns], values, hot, scores)
    for label in range(len(scores)):  # last, as in the plain version: the order decides the bits
        scores[label] += weights.bias[label]


@inner
def top_k(scores: Any, labels: Any, best: Any) -> None:
    """Write the best labels and their scores, best first; ties go to the lower label.

    Once k are found, sixteen scores at a time are passed over when none is above the lowest.
    """
    n_labels, k, n_kept = len(scores), len(labels), np.int64(0)
    for first in range(0, n_labels, LANES):
        is_full = n_kept == k and first + LANES <= n_labels
        if is_full and not any_greater(load(scores, first), splat(best[k - 1])):
            continue
        for label in range(first, min(first + LANES, n_labels)):
            n_kept = insert(scores[label], label, n_kept, labels, best)


@inner
def insert(score: Any, label: Any, n_kept: Any, labels: Any, best: Any) -> Any:
    """Insert a label among the `n_kept` best where its score belongs there; how many then."""
    k = len(labels)
    if n_kept == k and not score > best[k - 1]:
        return n_kept
    rank = n_kept if n_kept < k else k - 1
    while rank > 0 and score > best[rank - 1]:
        best[rank], labels[rank] = best[rank - 1], labels[rank - 1]
        rank -= 1
    best[rank], labels[rank] = score, label
    return min(n_kept + 1, k)
