"""LabelProfile: what a model knows about one of its labels, beside any document."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.classifier import Classifier, Member
from app.decisions.label_hull import LabelHull
from app.errors import InvalidRequestError
from app.labels import Taxonomy

MOST_POINTS = 200
MOST_RULES = 100


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term, and what it counts for: times its value in a text, that is what it adds."""

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class LabelRule:
    """A learnt rule, and the score that it gives."""

    rule: str
    score: float


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """A hand-written rule that assigns or forbids the label; its note is for its writers alone."""

    when: str
    then: str


@dataclass(frozen=True, slots=True)
class CutPoint:
    """A cut on the label's hull: held-out documents above it, and the probability at it."""

    threshold: float
    tp: int
    fp: int
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class HeldOutCounts:
    """How the label's cut did on held-out documents.

    `tp` and `fp` are those of the hull's nearest cut: `is_exact` says whether it is the cut itself.
    """

    documents: int
    positives: int
    tp: int
    fp: int
    is_exact: bool
    hull: list[CutPoint]


@dataclass(frozen=True, slots=True)
class TrainedLabel:
    """A label as it was trained: `threshold` is absent where nothing is above it, or none is."""

    label: str
    training_documents: int
    threshold: float | None = None
    held_out: HeldOutCounts | None = None
    bias: float | None = None
    terms_for: list[WeightedTerm] = field(default_factory=list)
    terms_against: list[WeightedTerm] = field(default_factory=list)
    rules: list[LabelRule] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    """Learners whose scores are neither a sum over terms nor given by rules."""


@dataclass(frozen=True, slots=True)
class LabelAbove:
    """A label above another in the labels file, which may be none of the model's."""

    label: str
    name: str
    is_answered: bool


@dataclass(frozen=True, slots=True)
class LabelProfile:
    """A label: what the labels file says, and the trained labels that are answered as it.

    That is itself, or whatever it was renamed or merged from.
    """

    label: str
    decision: str
    trained: list[TrainedLabel]
    name: str = ""
    description: str = ""
    ancestors: list[LabelAbove] = field(default_factory=list)
    """The parent first, the root last."""
    hand_rules: list[WrittenRule] = field(default_factory=list)


def label_profile(
    classifier: Classifier, training_counts: NDArray[np.int64], label: str, n_terms: int
) -> LabelProfile:
    """What is known of a label, with the `n_terms` terms that speak most for it and against it."""
    entry = classifier.answered_labels.columns.get(label)
    if entry is None:
        raise InvalidRequestError("the model has no such label", pointer="/query/label")
    columns = [at for at, name in enumerate(classifier.column_names) if name == label]
    trained = [
        _trained(classifier, column, int(training_counts[column]), n_terms) for column in columns
    ]
    rules = () if classifier.hand_rules is None else classifier.hand_rules.rules
    written = [WrittenRule(rule.when, rule.then) for rule in rules if rule.label == label]
    decision, taxonomy = classifier.decision.name, classifier.taxonomy
    if taxonomy is None:
        return LabelProfile(label, decision, trained, hand_rules=written)
    return LabelProfile(
        label,
        decision,
        trained,
        taxonomy.names[entry],
        taxonomy.descriptions[entry],
        _ancestors(taxonomy, entry),
        written,
    )


def _ancestors(taxonomy: Taxonomy, entry: int) -> list[LabelAbove]:
    above = taxonomy.ancestors(entry)
    n_answered = len(taxonomy.labels)
    return [LabelAbove(taxonomy.label(at), taxonomy.names[at], at < n_answered) for at in above]


def _trained(
    classifier: Classifier, column: int, training_documents: int, n_terms: int
) -> TrainedLabel:
    cut = float(classifier.effective_decision.cuts_of(len(classifier.labels))[column])
    evidence = _Evidence.of(classifier.members, column)
    return TrainedLabel(
        classifier.labels.names[column],
        training_documents,
        cut if np.isfinite(cut) else None,
        _held_out(classifier, column, cut),
        evidence.bias,
        evidence.terms(n_terms, 1.0),
        evidence.terms(n_terms, -1.0),
        evidence.rules[:MOST_RULES],
        evidence.unexplained,
    )


def _held_out(classifier: Classifier, column: int, cut: float) -> HeldOutCounts | None:
    if classifier.hulls is None:
        return None
    hull = LabelHull.of(classifier.hulls, column)
    at = hull.nearest(cut)
    return HeldOutCounts(
        hull.documents,
        hull.positives,
        at.tp,
        at.fp,
        hull.has_counts_at(cut),
        _points(classifier, column, hull),
    )


def _points(classifier: Classifier, column: int, hull: LabelHull) -> list[CutPoint]:
    """The vertices of finite cuts with their probabilities; of very many an even choice."""
    points = [point for point in hull.points if np.isfinite(point.threshold)]
    if len(points) > MOST_POINTS:
        kept = np.linspace(0, len(points) - 1, MOST_POINTS).astype(np.int64)
        points = [points[place] for place in kept.tolist()]
    if classifier.calibration is None:
        return [CutPoint(*point) for point in points]
    scores = np.array([point.threshold for point in points], np.float32)
    labels = np.full(len(points), column)
    probabilities = classifier.calibration.probability(labels, scores).tolist()
    return [CutPoint(*point, said) for point, said in zip(points, probabilities, strict=True)]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the members of a classifier have on one label."""

    bias: float | None
    weights: list[tuple[NDArray[np.float32], Sequence[str]]]
    """The weights of the terms of each linear member, as they count in the sum of all."""
    rules: list[LabelRule]
    unexplained: list[str]

    @classmethod
    def of(cls, members: Sequence[Member], label: int) -> "_Evidence":
        bias, weights, rules, unexplained = 0.0, [], list[LabelRule](), list[str]()
        for member in members:
            factor, names = 1.0 if len(members) == 1 else member.weight, member.vectorizer.terms()
            linear = member.learner.linear_weights()
            written = member.learner.label_rules(label, names)
            if linear is not None:
                bias += factor * float(linear.bias[label])
                weights.append((linear.of_label(label) * np.float32(factor), names))
            elif written is not None:
                rules += [LabelRule(rule, score) for rule, score in written]
            else:
                unexplained.append(member.learner.kind)
        rules.sort(key=lambda rule: -rule.score)
        return cls(bias if weights else None, weights, rules, unexplained)

    def terms(self, n: int, sign: float) -> list[WeightedTerm]:
        """The n terms of the highest weights (sign 1) or the lowest (-1), the strongest first."""
        best = []
        for weights, names in self.weights:
            strength = sign * weights
            for column in np.argsort(-strength, kind="stable")[:n].tolist():
                if strength[column] > 0:
                    best.append(WeightedTerm(names[column], float(weights[column])))
        return sorted(best, key=lambda term: -sign * term.weight)[:n]
