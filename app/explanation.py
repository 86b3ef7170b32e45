"""Why a label came: the terms, neighbours or rules that raised or lowered its score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.classifier import Classifier, Member
from app.errors import InvalidRequestError
from app.learners.base import Contributions, Evidence
from app.vectorizers.base import TermSpans

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Reason:
    """A term, neighbour or rule, and what it adds to the score."""

    name: str
    weight: float
    at: Spans | None = None
    """Where a term stands in the text (code points); None for what is no term."""
    kind: str = "term"
    """`term`, `neighbour` (an id of the training data) or `rule`."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The strongest reasons; with `bias` and `rest` (all other reasons) they sum to the score."""

    because: list[Reason]
    bias: float
    rest: float
    is_approximate: bool = False
    """Whether a learner only estimates what a term adds (networks, by gradients)."""


def explain(
    classifier: Classifier, text: str, labels: Sequence[int], n_reasons: int
) -> list[Explanation]:
    """For each label of one text the `n_reasons` reasons that count most, strongest first.

    The members of an ensemble are added up as their scores are. Learners that cannot say what
    their scores rest on cannot be explained: InvalidRequestError.
    """
    is_alone = len(classifier.members) == 1
    members = [
        (_explained(member, text, labels), 1.0 if is_alone else member.weight)
        for member in classifier.members
    ]
    return [_explanation(members, row, n_reasons) for row in range(len(labels))]


class _ExplainedMember(Protocol):
    """What one member's scores of one text rest on, by row: the labels in the order asked for."""

    def weights(self, row: int) -> NDArray[np.float64]:
        """What each reason adds to the score of one label."""
        ...

    def bias(self, row: int) -> float:
        """What the score starts from."""
        ...

    def is_approximate(self, row: int) -> bool:
        """Whether the weights are estimates."""
        ...

    def reason(self, row: int, position: int, weight: float) -> Reason:
        """The reason at this position, with the weight it counts for."""
        ...


def _explained(member: Member, text: str, labels: Sequence[int]) -> _ExplainedMember:
    terms, names = member.vectorizer.term_spans(text), member.vectorizer.terms
    if terms is not None:
        contributions = member.learner.contributions(*terms[:2], labels)
        if contributions is not None:
            return _Terms(terms, contributions, names())
        evidence = member.learner.evidence(*terms[:2], labels, names())
        if evidence is not None:
            return _OtherEvidence(evidence)
    raise InvalidRequestError(
        f"the learner {member.learner.kind} cannot explain its scores", pointer="/explain"
    )


@dataclass(frozen=True, slots=True)
class _Terms:
    """Scores that are sums over the terms of the text."""

    terms: TermSpans
    by_label: list[Contributions]
    names: Sequence[str]

    def weights(self, row: int) -> NDArray[np.float64]:
        return np.asarray(self.by_label[row].weights, np.float64)

    def bias(self, row: int) -> float:
        return self.by_label[row].bias

    def is_approximate(self, row: int) -> bool:
        return self.by_label[row].is_approximate

    def reason(self, row: int, position: int, weight: float) -> Reason:
        column = int(self.terms.columns[position])
        return Reason(self.names[column], weight, self.terms.spans.get(column, []))


@dataclass(frozen=True, slots=True)
class _OtherEvidence:
    """Scores that rest on neighbours or rules."""

    by_label: list[Evidence]

    def weights(self, row: int) -> NDArray[np.float64]:
        return np.asarray(self.by_label[row].weights, np.float64)

    def bias(self, row: int) -> float:
        return self.by_label[row].bias

    def is_approximate(self, row: int) -> bool:
        return False

    def reason(self, row: int, position: int, weight: float) -> Reason:
        evidence = self.by_label[row]
        return Reason(evidence.names[position], weight, kind=evidence.kind)


def _explanation(
    members: list[tuple[_ExplainedMember, float]], row: int, n_reasons: int
) -> Explanation:
    weighted = [
        (weight * factor, member, position)
        for member, factor in members
        for position, weight in enumerate(member.weights(row).tolist())
        if weight
    ]
    weighted.sort(key=lambda entry: -abs(entry[0]))
    because = [
        member.reason(row, position, weight) for weight, member, position in weighted[:n_reasons]
    ]
    rest = sum(weight for weight, _, _ in weighted[n_reasons:])
    bias = sum(member.bias(row) * factor for member, factor in members)
    is_approximate = any(member.is_approximate(row) for member, _ in members)
    return Explanation(because, bias, rest, is_approximate)
