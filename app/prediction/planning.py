"""How a Query becomes a Plan: what may be asked together, and which cuts it means."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from app.classifier import Classifier
from app.errors import InvalidRequestError
from app.kernels.linear.answer_values import short
from app.prediction.plan import Columns, Explainer, Plan, Row
from app.prediction.query import Query

LARGEST = float(np.finfo(np.float32).max)


def plan_of(
    query: Query,
    classifier: Classifier,
    *,
    explainer: Explainer | None = None,
    held_out: Mapping[str, Any] | None = None,
) -> Plan:
    """The Plan of a Query; what the model cannot answer is an InvalidRequestError.

    `held_out` are the manifest's figures of the stored decision on held-out data.
    """
    asked = [query.operating_point, query.threshold, query.min_probability]
    n_asked = sum(value is not None for value in asked)
    if n_asked > 1:
        raise InvalidRequestError("at most one of operating_point, threshold, min_probability")
    candidates = _candidates(query.labels, classifier)
    if query.threshold is not None:
        plan = _one_cut(query, classifier, query.threshold)
    elif query.min_probability is not None:
        plan = _probability_cut(query, classifier, query.min_probability)
    elif n_asked == 0 and query.top_k is not None:
        plan = _ranking(classifier, query.top_k)
    else:
        plan = _operating_point(query, classifier, held_out or {})
    if candidates is not None:
        plan = _restricted(plan, candidates)
    explainer = explainer if query.explain else None
    return replace(plan, explain=query.explain or 0, explainer=explainer)


def _ranking(classifier: Classifier, k: int) -> Plan:
    """The first k whatever their score."""
    return Plan(classifier, _all(classifier, -np.inf), k, shows_cuts=False)


def _all(classifier: Classifier, cut: float) -> Row:
    return np.full(len(classifier.labels), cut, np.float32)


def _one_cut(query: Query, classifier: Classifier, cut: float) -> Plan:
    if not -LARGEST <= cut <= LARGEST:
        raise InvalidRequestError(
            "the threshold is not a number that a score can be", pointer="/threshold"
        )
    return Plan(classifier, _all(classifier, cut), query.top_k)


def _probability_cut(query: Query, classifier: Classifier, least: float) -> Plan:
    if classifier.calibration is None:
        raise InvalidRequestError(
            "this model has no calibration, so no probabilities", pointer="/min_probability"
        )
    # A cut is passed strictly above it, but a probability equal to the minimum is enough.
    below = float(np.nextafter(np.float32(least), np.float32(-1)))
    return replace(_one_cut(query, classifier, below), is_by_probability=True)


def _operating_point(query: Query, classifier: Classifier, held_out: Mapping[str, Any]) -> Plan:
    name = query.operating_point or "tuned"
    if name == "tuned":
        return _tuned(query, classifier, held_out)
    if classifier.operating_points is None:
        raise InvalidRequestError(
            "this model has no held-out scores, so no operating points; accepted: tuned",
            pointer="/operating_point",
        )
    found = classifier.operating_points.find(name)
    point = {"name": name, "precision": short(found.precision), "recall": short(found.recall)}
    return Plan(classifier, np.array(found.cuts), query.top_k, point)


def _tuned(query: Query, classifier: Classifier, held_out: Mapping[str, Any]) -> Plan:
    """The stored decision; abstention belongs to it and raises its cuts to the bands' ends."""
    decision, abstention = classifier.decision, classifier.abstention
    point: dict[str, Any] = {"name": "tuned"}
    if decision.cuts is None:
        k = int(decision.name.partition(":")[2])
        return replace(_ranking(classifier, min(k, query.top_k or k)), point=point)
    if abstention is None:
        for measure in ("precision", "recall"):
            if f"micro_{measure}" in held_out:
                point[measure] = short(held_out[f"micro_{measure}"])
        return Plan(classifier, np.array(decision.cuts), query.top_k, point)
    cuts = np.maximum(decision.cuts, abstention.upper)
    return Plan(classifier, cuts, query.top_k, point, band=(abstention.lower, abstention.upper))


def _candidates(labels: tuple[str, ...] | None, classifier: Classifier) -> Columns | None:
    if labels is None:
        return None
    columns = classifier.labels.columns
    for position, label in enumerate(labels):
        if label not in columns:
            raise InvalidRequestError("the model has no such label", pointer=f"/labels/{position}")
    return np.array(sorted({columns[label] for label in labels}), dtype=np.intp)


def _restricted(plan: Plan, candidates: Columns) -> Plan:
    """The same plan with only these labels allowed to come."""
    outside = np.ones(len(plan.cuts), np.bool_)
    outside[candidates] = False
    band = plan.band
    if band is not None:
        band = band[0], np.where(outside, -np.inf, band[1]).astype(np.float32)
    cuts = np.where(outside, np.inf, plan.cuts).astype(np.float32)
    return replace(plan, cuts=cuts, band=band)
