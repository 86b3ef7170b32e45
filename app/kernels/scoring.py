"""From a text to its labels' scores, compiled: cut, count, weigh, add up, rank."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.counting import (
    longest_text,
    look_up,
    most_terms,
    room_for_spans,
    room_for_units,
    squeeze,
)
from app.kernels.flat import text_forms, weight_forms
from app.kernels.vectors import prefetch
from app.kernels.weights import weigh


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
    return units, spans, columns, counts, np.empty(n_terms), np.empty(n_terms, np.float32)


@kernel
def add_up(text: Any, place: Any, forms: Any, weighing: Any, room: Any, scores: Any) -> None:
    """Fill in one text's scores; `weighing` is the kind of frequency, and 1 for binary counts."""
    cutting, terms, idf, linear = forms
    units, spans, columns, counts, exact, values = room
    frequency, binary = weighing[0], weighing[1]
    n_found = look_up(text, place, cutting, terms, (units, spans), columns)
    n_columns = squeeze(columns, n_found, counts)
    if binary:
        counts[:n_columns] = 1
    weigh(columns[:n_columns], counts, idf, frequency, exact, values)
    scores[:] = 0.0
    if len(linear.dense):
        add_dense(linear, columns[:n_columns], values, scores)
    else:
        add_sparse(linear, columns[:n_columns], values, scores)
    for label in range(len(scores)):
        scores[label] += linear.bias[label]


@inner
def add_dense(linear: Any, columns: Any, values: Any, scores: Any) -> None:
    """Add up the rows of some features."""
    for i in range(len(columns)):
        add_row(linear.dense[columns[i]], values[i], scores)


@inner
def add_row(row: Any, value: Any, scores: Any) -> None:
    """Add a row so many times."""
    for label in range(len(scores)):
        scores[label] += value * row[label]


@inner
def add_sparse(linear: Any, columns: Any, values: Any, scores: Any) -> None:
    """Add up the rows of some features; the first lines of all are asked for in time."""
    for column in columns:
        prefetch(linear.starts, column)
    for column in columns:
        prefetch(linear.narrow, linear.starts[column])
        prefetch(linear.values, linear.starts[column])
    for i in range(len(columns)):
        begin, end = linear.starts[columns[i]], linear.starts[columns[i] + 1]
        if end - begin > linear.limit:
            add_row(linear.hot[linear.hot_rows[columns[i]]], values[i], scores)
        elif len(linear.narrow):
            scatter(linear.narrow[begin:end], linear.values[begin:end], values[i], scores)
        else:
            scatter(linear.wide[begin:end], linear.values[begin:end], values[i], scores)


@inner
def scatter(labels: Any, weights: Any, value: Any, scores: Any) -> None:
    """Add each weight, so many times, to its label's score."""
    for i in range(len(labels)):
        scores[labels[i]] += value * weights[i]


@kernel
def rank(scores: Any, labels: Any, best: Any) -> None:
    """Fill in the best labels, best first; a score must be higher to pass an earlier label."""
    k, n_kept = len(labels), 0
    for label in range(len(scores)):
        score = scores[label]
        if n_kept == k and not score > best[k - 1]:
            continue
        place = n_kept if n_kept < k else k - 1
        while place > 0 and score > best[place - 1]:
            best[place], labels[place] = best[place - 1], labels[place - 1]
            place -= 1
        best[place], labels[place] = score, label
        n_kept = min(n_kept + 1, k)
