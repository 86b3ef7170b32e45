"""Predictions for a whole file of documents: what labelserve predict writes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.classifier import Classifier
from app.datasets.base import Record
from app.decisions.base import Batch, BatchRule, Use
from app.decisions.parser import TUNED, read_rule
from app.errors import InvalidRequestError
from app.prediction.answers import Prediction
from app.prediction.plan import Plan
from app.prediction.planning import Explainer, check_alone, plan_of
from app.prediction.query import Query

CHUNK = 256


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A query about a whole file, and what rules over a batch need of the training data."""

    query: Query
    frequencies: NDArray[np.float64]
    """The share of training documents that carry each label."""
    explainer: Explainer | None = None


def file_predictions(
    asked: FileQuery, classifier: Classifier, documents: Iterable[Record]
) -> Iterator[Prediction]:
    """One prediction a document, in order; a rule over the whole batch is decided over all."""
    query = asked.query
    rule = _batch_rule(query.operating_point)
    if rule is None:
        plan = plan_of(query, classifier, explainer=asked.explainer)
        return document_predictions(plan, documents)
    check_alone(query)
    if classifier.relabelling is not None:
        raise InvalidRequestError(
            f"{rule.syntax} needs the labels' training frequencies: ask the version that this one "
            "was relabelled from"
        )
    ranked = query._replace(operating_point=None, top_k=query.top_k or len(classifier.labels))
    return batch_predictions(plan_of(ranked, classifier), rule, asked.frequencies, documents)


def document_predictions(plan: Plan, documents: Iterable[Record]) -> Iterator[Prediction]:
    """One prediction a document, in order; memory does not grow with them."""
    for chunk in _chunks(documents):
        for document, prediction in zip(chunk, _of_chunk(plan, chunk), strict=True):
            prediction.id = document.id
            yield prediction


def batch_predictions(
    plan: Plan, rule: BatchRule, frequencies: NDArray[np.float64], documents: Iterable[Record]
) -> Iterator[Prediction]:
    """One prediction a document, decided over all of them together; their scores are kept.

    Of the plan only `top_k` and the labels that may come still count.
    """
    ids: list[str | None] = []
    chunks, verdicts = [], []
    for chunk in _chunks(documents):
        ids += [document.id for document in chunk]
        chunks.append(plan.classifier.scores(_inputs(plan, chunk)))
        if plan.rules is not None:
            verdicts += [plan.rules.verdict(document.text) for document in chunk]
    if not chunks:
        return
    scores, may_come = np.concatenate(chunks), plan.cuts < np.inf
    decision = rule.batch_decision(Batch(len(scores), scores.T, frequencies))
    marks = decision.decide(scores)
    if plan.rules is not None:
        plan.rules.correct(marks, verdicts)
    for id, row, marked in zip(ids, scores, marks & may_come, strict=True):
        prediction = plan.prediction(row, np.flatnonzero(marked))
        prediction.id, prediction.labels = id, prediction.labels[: plan.top_k]
        yield prediction


def refuse_batch_rule(query: Query) -> None:
    """InvalidRequestError for a rule that must see all documents, where they come file by file."""
    rule = _batch_rule(query.operating_point)
    if rule is not None:
        raise InvalidRequestError(
            f"{rule.syntax} is decided over all documents together, not file by file; accepted: "
            "one output file, or another operating point"
        )


def _batch_rule(name: str | None) -> BatchRule | None:
    if name is None or name == TUNED:
        return None
    rule = read_rule(name, Use.FILE_PREDICTION)
    return rule if isinstance(rule, BatchRule) else None


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
