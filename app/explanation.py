"""Why a label came: the terms that raised or lowered its score, exact for linear models."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.classifier import Classifier, Member
from app.errors import InvalidRequestError
from app.learners.base import Contributions

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Reason:
    """A term, what it adds to the score, and where it stands in the text (code points)."""

    term: str
    weight: float
    at: Spans


@dataclass(frozen=True, slots=True)
class Explanation:
    """The strongest terms; with `bias` and `rest` (all other terms) they sum to the score."""

    because: list[Reason]
    bias: float
    rest: float
    is_approximate: bool = False
    """Whether a learner only estimates what a term adds (networks, by gradients)."""


def explain(
    classifier: Classifier, text: str, labels: Sequence[int], n_terms: int
) -> list[Explanation]:
    """For each label of one text the `n_terms` terms that count most, strongest first.

    The members of an ensemble are added up as their scores are. Learners whose score is no sum
    over terms cannot be explained: InvalidRequestError.
    """
    is_alone = len(classifier.members) == 1
    members = [
        _ExplainedMember(member, text, labels, 1.0 if is_alone else member.weight)
        for member in classifier.members
    ]
    return [_explanation(members, row, n_terms) for row in range(len(labels))]


class _ExplainedMember:
    """One member's features of the text, and what they add to the score of each label."""

    def __init__(self, member: Member, text: str, labels: Sequence[int], weight: float) -> None:
        terms = member.vectorizer.term_spans(text)
        contributions = None if terms is None else member.learner.contributions(*terms[:2], labels)
        if terms is None or contributions is None:
            raise InvalidRequestError(
                f"the learner {member.learner.kind} cannot explain its scores", pointer="/explain"
            )
        self._names = member.vectorizer.terms()
        self._columns, _, self._spans = terms
        self.by_label: list[Contributions] = contributions
        self.weight = weight

    def weights(self, row: int) -> NDArray[np.float64]:
        """What each feature adds to the score of one label."""
        return np.asarray(self.by_label[row].weights, np.float64) * self.weight

    def reason(self, position: int, weight: float) -> Reason:
        """The feature at this position, with its spans in the text."""
        column = int(self._columns[position])
        return Reason(self._names[column], weight, self._spans.get(column, []))


def _explanation(members: list[_ExplainedMember], row: int, n_terms: int) -> Explanation:
    weighted = [
        (weight, member, position)
        for member in members
        for position, weight in enumerate(member.weights(row).tolist())
        if weight
    ]
    weighted.sort(key=lambda entry: -abs(entry[0]))
    because = [member.reason(position, weight) for weight, member, position in weighted[:n_terms]]
    rest = sum(weight for weight, _, _ in weighted[n_terms:])
    bias = sum(member.by_label[row].bias * member.weight for member in members)
    is_approximate = any(member.by_label[row].is_approximate for member in members)
    return Explanation(because, bias, rest, is_approximate)
