"""From a text to its labels' scores, compiled: cut, count, weigh, add up, rank."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.linear.accumulation import add_dense, add_sparse
from app.kernels.linear.array_table import text_forms, weight_forms
from app.kernels.simd import LANES, any_greater, load, splat
from app.kernels.text.counting import (
    longest_text,
    look_up,
    most_terms,
    room_for_spans,
    room_for_units,
    squeeze,
)
from app.kernels.text.tfidf import weigh


@kernel
def score_texts(text: Any, ends: Any, part: Any, numbers: Any, weights: Any, scores: Any) -> None:
    """Fill in the scores of the texts from `part` (first, stop), the first in the first row."""
    first, stop = part
    cutting, terms = text_forms(numbers)
    forms = (cutting, terms, *weight_forms(weights))
    room = room_for_text(longest_text(ends, first, stop), cutting)
    begin = ends[first - 1] if first else 0
    for i in range(first, stop):
        add_up(text, (begin, ends[i]), forms, weights, room, scores[i - first])
        begin = ends[i]


@kernel
def score_text(text: Any, numbers: Any, weights: Any, scores: Any) -> None:
    """Fill in the scores of one text."""
    cutting, terms = text_forms(numbers)
    forms = (cutting, terms, *weight_forms(weights))
    room = room_for_text(len(text), cutting)
    add_up(text, (0, len(text)), forms, weights, room, scores)


@kernel
def rank_text(text: Any, numbers: Any, weights: Any, labels: Any, best: Any) -> None:
    """Fill in one text's best labels and their scores."""
    scores = np.empty(weights[6], np.float32)
    score_text(text, numbers, weights, scores)
    rank(scores, labels, best)


@kernel
def rank_texts(text: Any, ends: Any, part: Any, numbers: Any, weights: Any, ranked: Any) -> None:
    """Fill in the best labels, and their scores, of the texts from `part` (first, stop)."""
    first, stop = part
    cutting, terms = text_forms(numbers)
    forms = (cutting, terms, *weight_forms(weights))
    room = room_for_text(longest_text(ends, first, stop), cutting)
    scores, labels, best = np.empty(weights[6], np.float32), ranked[0], ranked[1]
    begin = ends[first - 1] if first else 0
    for i in range(first, stop):
        add_up(text, (begin, ends[i]), forms, weights, room, scores)
        rank(scores, labels[i], best[i])
        begin = ends[i]


@inner
def room_for_text(n_bytes: Any, cutting: Any) -> Any:
    """Room for everything that is known about one text on the way."""
    n_terms = most_terms(n_bytes + 3, cutting) + 1
    units, spans = room_for_units(n_bytes, cutting.analyzer), room_for_spans(cutting)
    columns, counts = np.empty(n_terms, np.int32), np.empty(n_terms, np.int32)
    values, shares = np.empty(n_terms, np.float32), np.empty(n_terms, np.float32)
    dense = (np.empty(n_terms, np.int64), shares)
    return units, spans, columns, counts, np.empty(n_terms), values, dense


@kernel
def add_up(text: Any, place: Any, forms: Any, weighing: Any, room: Any, scores: Any) -> None:
    """Fill in one text's scores; `weighing` is the kind of frequency, and 1 for binary counts."""
    cutting, terms, idf, linear = forms
    units, spans, columns, counts, exact, values, dense = room
    frequency, binary = weighing[0], weighing[1]
    n_found = look_up(text, place, cutting, terms, (units, spans), columns)
    n_columns = squeeze(columns, n_found, counts)
    if binary:
        counts[:n_columns] = 1
    weigh(columns[:n_columns], counts, idf, frequency, exact, values)
    if len(linear.dense):
        add_dense(linear, columns[:n_columns], values, dense[0], scores)
    else:
        add_sparse(linear, columns[:n_columns], values, dense, scores)
    for label in range(len(scores)):
        scores[label] += linear.bias[label]


@kernel
def rank(scores: Any, labels: Any, best: Any) -> None:
    """Fill in the best labels, best first; a score must be higher to pass an earlier label.

    Once there are enough, sixteen scores at a time are passed over when none is high enough.
    """
    n_labels, k, n_kept, label = len(scores), len(labels), 0, 0
    while label < n_labels:
        is_full = n_kept == k and label + LANES <= n_labels
        if is_full and not any_greater(load(scores, label), splat(best[k - 1])):
            label += LANES
            continue
        for one in range(label, min(label + LANES, n_labels)):
            n_kept = insert(scores[one], one, n_kept, labels, best)
        label += LANES


@inner
def insert(score: Any, label: Any, n_kept: Any, labels: Any, best: Any) -> Any:
    """Put a label among the best where it belongs there; how many there are then."""
    k = len(labels)
    if n_kept == k and not score > best[k - 1]:
        return n_kept
    place = n_kept if n_kept < k else k - 1
    while place > 0 and score > best[place - 1]:
        best[place], labels[place] = best[place - 1], labels[place - 1]
        place -= 1
    best[place], labels[place] = score, label
    return min(n_kept + 1, k)
