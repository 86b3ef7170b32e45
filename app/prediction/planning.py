"""How a Query becomes a Plan: what may be asked together, and which cuts it means."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from app.classifier import Classifier
from app.decisions.base import Use
from app.decisions.decision import Columns, Decision, Expected
from app.decisions.parser import TUNED, decision_of
from app.errors import InvalidRequestError
from app.kernels.linear.answer_values import short
from app.prediction.near_cuts import near_cuts
from app.prediction.plan import Explained, Plan
from app.prediction.planned_rules import PlannedRules
from app.prediction.query import Query

Explainer: TypeAlias = Callable[[Classifier, str, Sequence[int], int], Sequence[Explained]]
"""(classifier, text, label columns, most terms) → one explanation a label."""

MOST_NAMES = 100
"""Labels that an answer names as not assigned; their number is always told."""
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
    check_alone(query)
    candidates = _candidates(query.labels, classifier)
    if query.threshold is not None:
        plan = _threshold(query, classifier, query.threshold)
    elif query.min_probability is not None:
        plan = _probability_cut(query, classifier, query.min_probability)
    elif query.operating_point is None and query.top_k is not None:
        plan = _plan(query, classifier, Decision(None, "", query.top_k))
    else:
        plan = _operating_point(query, classifier, held_out or {})
    if query.marks_doubt and plan.band is None and classifier.calibration and plan.shows_cuts:
        band = near_cuts(plan.cuts, classifier.calibration, plan.is_by_probability)
        plan = replace(plan, band=band)
    if candidates is not None:
        plan = _restricted(plan, candidates)
    if query.below_cut is not None:
        plan = _with_below_cut(plan, query)
    if query.ancestors:
        plan = _with_ancestors(plan, classifier)
    if explainer is None or not query.explain:
        return plan
    return replace(plan, explain=query.explain, explainer=partial(explainer, classifier))


def check_alone(query: Query) -> None:
    """Refuse a query that says in two ways where labels are cut off."""
    asked = [query.operating_point, query.threshold, query.min_probability]
    if sum(value is not None for value in asked) > 1:
        raise InvalidRequestError("at most one of operating_point, threshold, min_probability")
    if query.nearest and query.operating_point is None:
        raise InvalidRequestError(
            "nearest belongs to an operating_point with a bound", pointer="/nearest"
        )


def _with_below_cut(plan: Plan, query: Query) -> Plan:
    if query.labels is not None or not plan.shows_cuts:
        raise InvalidRequestError(
            "below_cut goes with a cut, and not with labels or with top_k alone",
            pointer="/below_cut",
        )
    return replace(plan, below_cut=query.below_cut or 0)


def _with_ancestors(plan: Plan, classifier: Classifier) -> Plan:
    if classifier.taxonomy is None:
        raise InvalidRequestError(
            "this model was trained without a labels file, so it knows no ancestors",
            pointer="/ancestors",
        )
    return replace(plan, shows_ancestors=True)


def abstains(query: Query, classifier: Classifier) -> bool:
    """Whether the query is answered by the stored decision of a model that abstains."""
    asked = (query.threshold, query.min_probability, query.operating_point or query.top_k)
    is_tuned = query.operating_point == TUNED or asked == (None, None, None)
    return is_tuned and classifier.abstention is not None


def _plan(query: Query, classifier: Classifier, decision: Decision) -> Plan:
    """The plan of a decision; of its bound and the query's own the smaller one holds."""
    bounds = [k for k in (query.top_k, decision.most_labels) if k is not None]
    cuts = np.array(decision.cuts_of(len(classifier.labels)))
    shows_cuts = decision.cuts is not None
    rules = _planned_rules(query, classifier, decision)
    return Plan(classifier, cuts, min(bounds, default=None), shows_cuts=shows_cuts, rules=rules)


def _planned_rules(query: Query, classifier: Classifier, decision: Decision) -> PlannedRules | None:
    """How the model's hand-written rules act on the decision; None: it has none."""
    if classifier.hand_rules is None:
        return None
    cutting = (query.operating_point, query.threshold, query.min_probability)
    is_ranking = query.top_k is not None and all(asked is None for asked in cutting)
    return PlannedRules(
        classifier.hand_rules,
        decision.most_labels,
        query.top_k,
        is_ranking,
        None if query.labels is None else frozenset(query.labels),
        classifier.relabelling,
    )


def _threshold(query: Query, classifier: Classifier, cut: float) -> Plan:
    if not -LARGEST <= cut <= LARGEST:
        raise InvalidRequestError(
            "the threshold is not a number that a score can be", pointer="/threshold"
        )
    cuts = np.full(len(classifier.labels), cut, np.float32)
    return _plan(query, classifier, Decision(cuts, ""))


def _probability_cut(query: Query, classifier: Classifier, least: float) -> Plan:
    if classifier.calibration is None:
        raise InvalidRequestError(
            "this model has no calibration, so no probabilities", pointer="/min_probability"
        )
    # A cut is passed strictly above it, but a probability equal to the minimum is enough.
    below = float(np.nextafter(np.float32(least), np.float32(-1)))
    return replace(_threshold(query, classifier, below), is_by_probability=True)


def _operating_point(query: Query, classifier: Classifier, held_out: Mapping[str, Any]) -> Plan:
    name = query.operating_point or TUNED
    if name == TUNED:
        return _tuned(query, classifier, held_out)
    try:
        basis = replace(classifier.basis, takes_nearest=query.nearest)
        decision = decision_of(name, Use.PREDICTION, basis)
    except InvalidRequestError as error:
        raise InvalidRequestError(str(error), pointer="/operating_point") from None
    point: dict[str, Any] = {"name": name}
    if decision.expected is not None and not classifier.has_merged_labels:
        point |= _told(decision.expected)
    if decision.unreached is not None:
        names = _names_of(decision.unreached, classifier)
        point |= {"not_assigned": names[:MOST_NAMES], "n_not_assigned": len(names)}
    return replace(_plan(query, classifier, decision), point=point)


def _names_of(columns: Columns, classifier: Classifier) -> list[str]:
    """The labels of these columns, unless they have others, too."""
    names, relabelling = classifier.column_names, classifier.relabelling
    if relabelling is None:
        return [names[column] for column in columns.tolist()]
    others = np.setdiff1d(np.arange(len(names)), columns)
    reached = {names[column] for column in others.tolist()}
    return [name for name in relabelling.labels.names if name not in reached]


def _told(expected: Expected) -> dict[str, Any]:
    """An expectation as it is answered: what is not known is left out."""
    told: dict[str, Any] = {}
    for name, value in expected._asdict().items():
        if isinstance(value, tuple):
            told[name] = [short(end) for end in value]
        elif value is not None:
            told[name] = value if isinstance(value, bool) else short(value)
    return told


def _tuned(query: Query, classifier: Classifier, held_out: Mapping[str, Any]) -> Plan:
    """The stored decision; abstention belongs to it and raises its cuts to the bands' ends."""
    abstention = classifier.abstention
    plan = _plan(query, classifier, classifier.effective_decision)
    if abstention is not None:
        band = abstention.lower, abstention.upper
        return replace(plan, point={"name": TUNED}, band=band)
    point: dict[str, Any] = {"name": TUNED}
    if plan.shows_cuts and "micro_precision" in held_out and not classifier.has_merged_labels:
        precision, recall = held_out["micro_precision"], held_out["micro_recall"]
        points = classifier.operating_points
        known = points.around(precision, recall) if points else Expected(precision, recall)
        point |= _told(known)
    return replace(plan, point=point)


def _candidates(labels: tuple[str, ...] | None, classifier: Classifier) -> Columns | None:
    if labels is None:
        return None
    columns, relabelling = classifier.answered_labels.columns, classifier.relabelling
    for position, label in enumerate(labels):
        if label not in columns:
            raise InvalidRequestError("the model has no such label", pointer=f"/labels/{position}")
    chosen = np.array(sorted({columns[label] for label in labels}), dtype=np.intp)
    return chosen if relabelling is None else relabelling.behind(chosen)


def _restricted(plan: Plan, candidates: Columns) -> Plan:
    """The same plan with only these labels allowed to come."""
    outside = np.ones(len(plan.cuts), np.bool_)
    outside[candidates] = False
    band = plan.band
    if band is not None:
        band = band[0], np.where(outside, -np.inf, band[1]).astype(np.float32)
    cuts = np.where(outside, np.inf, plan.cuts).astype(np.float32)
    return replace(plan, cuts=cuts, band=band)
