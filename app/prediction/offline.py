"""Predictions for a whole file of documents: what scripts/predict.py writes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from app.datasets.base import Record
from app.decisions.rules.proportion_cut import ProportionCut
from app.errors import InvalidRequestError
from app.prediction.answers import Prediction
from app.prediction.plan import Plan

CHUNK = 256


def file_predictions(plan: Plan, documents: Iterable[Record]) -> Iterator[Prediction]:
    """One prediction a document, in order; memory does not grow with them."""
    for chunk in _chunks(documents):
        found = _of_chunk(plan, chunk)
        for document, prediction in zip(chunk, found, strict=True):
            prediction.id = document.id
            yield prediction


def batch_predictions(
    plan: Plan, cut: ProportionCut, documents: Iterable[Record]
) -> Iterator[Prediction]:
    """One prediction a document, decided over all of them together; their scores are kept.

    Of the plan only `top_k` and the labels that may come still count.
    """
    plan, allowed = replace(plan, shows_cuts=False, band=None), plan.cuts < np.inf
    ids: list[str | None] = []
    scores = []
    for chunk in _chunks(documents):
        ids += [document.id for document in chunk]
        scores.append(plan.classifier.scores(_inputs(plan, chunk)))
    if not scores:
        return
    together = np.concatenate(scores)
    marks = cut.decide(together)
    for id, row, marked in zip(ids, together, marks, strict=True):
        prediction = plan.prediction(row, np.flatnonzero(marked & allowed))
        prediction.id, prediction.labels = id, prediction.labels[: plan.top_k]
        yield prediction


def _of_chunk(plan: Plan, chunk: list[Record]) -> list[Prediction]:
    if plan.classifier.is_ready_made:
        return [plan.prediction(row) for row in plan.classifier.scores(_inputs(plan, chunk))]
    return plan.predictions(_texts(chunk))


def _texts(chunk: list[Record]) -> list[str]:
    if any(document.features is not None for document in chunk):
        raise InvalidRequestError("the model reads texts, and these are ready-made features")
    return [document.text for document in chunk]


def _inputs(plan: Plan, chunk: list[Record]) -> Any:
    if not plan.classifier.is_ready_made:
        return _texts(chunk)
    rows = [document.features for document in chunk if document.features is not None]
    if len(rows) < len(chunk):
        raise InvalidRequestError("the model reads ready-made features: give it svmlight")
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([columns for columns, _ in rows])
    values = np.concatenate([values for _, values in rows])
    width = int(columns.max(initial=-1)) + 1
    return csr_array((values, columns, ends), shape=(len(rows), width))


def _chunks(documents: Iterable[Record]) -> Iterator[list[Record]]:
    each = iter(documents)
    while chunk := list(islice(each, CHUNK)):
        yield chunk
