"""Predictions as JSON, in pieces: a thread that writes a million labels lets others run meanwhile.

An encoder holds the interpreter until it has written all that it was given, and so does whoever
frees a million objects. So a prediction is encoded some labels at a time, and what is encoded is
dropped at once, in the thread that does it.
"""

from collections import deque
from collections.abc import Iterator

import msgspec

from app.prediction.answers import Label, Prediction

LABELS_AT_ONCE = 500
OPENING = b'{"labels":['
"""How every prediction begins."""

_encode = msgspec.json.Encoder().encode


def written(prediction: Prediction) -> Iterator[bytes]:
    """The JSON of one prediction, in parts; its labels are gone afterwards."""
    labels, prediction.labels = prediction.labels, []
    shell = _encode(prediction)
    yield OPENING
    yield from _labels(labels)
    yield shell[len(OPENING) :]


def listed(predictions: list[Prediction]) -> Iterator[bytes]:
    """The JSON of all of them, with commas between; the list is empty afterwards."""
    predictions.reverse()
    separator = b""
    while predictions:
        yield separator
        yield from written(predictions.pop())
        separator = b","


def _labels(labels: list[Label]) -> Iterator[bytes]:
    waiting = deque(_slices(labels))
    labels.clear()
    while waiting:
        yield _encode(waiting.popleft())[1:-1]
        if waiting:
            yield b","


def _slices(labels: list[Label]) -> Iterator[list[Label]]:
    """Some labels at a time; one, where each has its reasons or its ancestors with it."""
    is_long = labels and (labels[0].because is not None or labels[0].ancestors is not None)
    at_once = 1 if is_long else LABELS_AT_ONCE
    for start in range(0, len(labels), at_once):
        yield labels[start : start + at_once]
