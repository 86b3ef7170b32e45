"""The figure early stopping looks at: larger is better, computed on validation scores."""

import re

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.errors import InvalidRequestError

LOWEST = np.float32(-30.0)  # what a label without a score counts as in the loss
ACCEPTED = "micro-f1, macro-f1, p@K, ndcg@K, loss"


def validation_figure(metric: str, scores: Scores, truth: Truth) -> float:
    """The metric by its name; `loss` is the negative mean cross-entropy."""
    marks = truth.toarray()
    if metric == "loss":
        scores = np.maximum(scores, LOWEST)
        signed = np.where(marks, scores, -scores).astype(np.float64)
        return -float(np.logaddexp(0.0, -signed).mean())
    if metric in ("micro-f1", "macro-f1"):
        return _f1(scores > _best_cut(scores, marks), marks, pooled=metric == "micro-f1")
    return _ranked(metric, scores, marks)


def check_metric(metric: str) -> None:
    """An error that lists the accepted names, if this is none."""
    if metric not in ("micro-f1", "macro-f1", "loss") and not re.fullmatch(
        r"(p|ndcg)@[1-9]\d*", metric
    ):
        raise InvalidRequestError(f"metric: accepted: {ACCEPTED}")


def _best_cut(scores: Scores, marks: NDArray[np.bool_]) -> float:
    """The one cut for all labels of best micro-F1: 0 is no good guess before cuts are tuned."""
    order = np.argsort(-scores, axis=None, kind="stable")
    hits = np.cumsum(marks.ravel()[order])
    best = int(np.argmax(hits / (np.arange(1, hits.size + 1) + marks.sum())))
    return float(np.nextafter(scores.ravel()[order[best]], np.float32(-np.inf)))


def _f1(decided: NDArray[np.bool_], marks: NDArray[np.bool_], *, pooled: bool) -> float:
    hits, total = (decided & marks).sum(axis=0), decided.sum(axis=0) + marks.sum(axis=0)
    if pooled:
        hits, total = hits.sum(keepdims=True), total.sum(keepdims=True)
    return float((2 * hits / np.maximum(total, 1)).mean())


def _ranked(metric: str, scores: Scores, marks: NDArray[np.bool_]) -> float:
    name, _, k = metric.partition("@")
    best = np.argsort(-scores, axis=1, kind="stable")[:, : int(k)]
    hits = np.take_along_axis(marks & (scores > -np.inf), best, axis=1)  # unscored: never found
    if name == "p":
        return float(hits.sum() / max(len(hits), 1) / int(k))
    gains = 1 / np.log2(np.arange(2, best.shape[1] + 2))
    ideal = np.concatenate([[0.0], np.cumsum(gains)])
    reachable = ideal[np.minimum(marks.sum(axis=1), best.shape[1])]
    return float(((hits @ gains) / np.where(reachable > 0, reachable, 1)).mean())
