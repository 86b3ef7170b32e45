"""How a Query becomes a Plan: what may be asked together, and which cuts it means."""

from dataclasses import replace

import numpy as np

from app.classifier import Classifier
from app.decisions.pr_curve import micro_figures
from app.errors import InvalidRequestError
from app.prediction.answers import short
from app.prediction.plan import Columns, Explainer, Plan
from app.prediction.query import Query


def plan_of(query: Query, classifier: Classifier, explainer: Explainer | None = None) -> Plan:
    """The Plan of a Query; what the model cannot answer is an InvalidRequestError."""
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
        plan = Plan(classifier, None, query.top_k)
    else:
        plan = _operating_point(query, classifier, query.operating_point or "tuned")
    if candidates is not None:
        plan = _restricted(plan, candidates)
    return replace(plan, explain=query.explain, explainer=explainer) if query.explain else plan


def _one_cut(query: Query, classifier: Classifier, cut: float) -> Plan:
    return Plan(classifier, np.full(len(classifier.labels), cut, np.float32), query.top_k)


def _probability_cut(query: Query, classifier: Classifier, least: float) -> Plan:
    if classifier.calibration is None:
        raise InvalidRequestError(
            "this model has no calibration, so no probabilities", pointer="/min_probability"
        )
    # A cut is passed strictly above it, but a probability equal to the minimum is enough.
    below = float(np.nextafter(np.float32(least), np.float32(-1)))
    return replace(_one_cut(query, classifier, below), is_by_probability=True)


def _operating_point(query: Query, classifier: Classifier, name: str) -> Plan:
    if name == "tuned":
        return _tuned(query, classifier)
    if classifier.operating_points is None:
        raise InvalidRequestError(
            "this model has no held-out scores, so no operating points; accepted: tuned",
            pointer="/operating_point",
        )
    found = classifier.operating_points.find(name)
    point = {"name": name, "precision": short(found.precision), "recall": short(found.recall)}
    return Plan(classifier, found.cuts, query.top_k, point)


def _tuned(query: Query, classifier: Classifier) -> Plan:
    """The stored decision; abstention belongs to it and raises its cuts to the bands' ends."""
    decision, abstention = classifier.decision, classifier.abstention
    point = {"name": "tuned", **_expected(classifier)}
    if decision.cuts is None:
        k = int(decision.name.partition(":")[2])
        return Plan(classifier, None, min(k, query.top_k or k), point)
    if abstention is None:
        return Plan(classifier, decision.cuts, query.top_k, point)
    cuts = np.maximum(decision.cuts, abstention.upper)
    return Plan(classifier, cuts, query.top_k, point, band=(abstention.lower, abstention.upper))


def _expected(classifier: Classifier) -> dict[str, float]:
    """Micro precision and recall of the stored cuts on held-out data, where these are known."""
    hulls, cuts = classifier.hulls, classifier.decision.cuts
    if hulls is None or cuts is None or classifier.abstention is not None:
        return {}
    label = hulls.label_of_vertex
    equal = np.flatnonzero(hulls.cuts == cuts[label])
    labels, first = np.unique(label[equal], return_index=True)
    if len(labels) < hulls.n_labels:
        return {}
    precision, recall = micro_figures(hulls, equal[first])
    return {"precision": short(precision), "recall": short(recall)}


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
    if plan.cuts is None:
        return replace(plan, candidates=candidates)
    outside = np.ones(len(plan.cuts), np.bool_)
    outside[candidates] = False
    band = plan.band
    if band is not None:
        band = band[0], np.where(outside, -np.inf, band[1]).astype(np.float32)
    cuts = np.where(outside, np.inf, plan.cuts).astype(np.float32)
    return replace(plan, cuts=cuts, candidates=candidates, band=band)
