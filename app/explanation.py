"""Why a label came: the terms that raised or lowered its score, exact for linear models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.classifier import Classifier, Member
from app.errors import InvalidRequestError

Spans = list[tuple[int, int]]
SPANS = "term_spans"


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
    parts = [_Part(member, text, len(classifier.members) > 1) for member in classifier.members]
    return [_explanation(parts, label, n_terms) for label in labels]


class _Part:
    """One member's features of the text."""

    def __init__(self, member: Member, text: str, is_one_of_several: bool) -> None:
        if not (hasattr(member.learner, "contributions") and hasattr(member.vectorizer, SPANS)):
            raise InvalidRequestError(
                f"the learner {member.learner.kind} cannot explain its scores", pointer="/explain"
            )
        self._learner: Any = member.learner
        self.is_approximate = bool(getattr(member.learner, "is_approximate", False))
        self._terms = member.vectorizer.terms()
        self._weight = member.weight if is_one_of_several else 1.0
        self._columns, self._values, self._spans = getattr(member.vectorizer, SPANS)(text)

    def contributions(self, label: int) -> tuple[NDArray[np.float64], float]:
        """What each feature adds to the label's score, and the bias."""
        found, bias = self._learner.contributions(self._columns, self._values, label)
        return np.asarray(found, np.float64) * self._weight, bias * self._weight

    def reason(self, position: int, weight: float) -> Reason:
        """The feature at this position, with its places in the text."""
        column = int(self._columns[position])
        return Reason(self._terms[column], weight, self._spans.get(column, []))


def _explanation(parts: list[_Part], label: int, n_terms: int) -> Explanation:
    found = [part.contributions(label) for part in parts]
    pairs = zip(parts, found, strict=True)
    every = [(w, part, i) for part, (ws, _) in pairs for i, w in enumerate(ws.tolist()) if w]
    every.sort(key=lambda entry: -abs(entry[0]))
    because = [part.reason(position, weight) for weight, part, position in every[:n_terms]]
    rest = sum(weight for weight, _, _ in every[n_terms:])
    is_approximate = any(part.is_approximate for part in parts)
    return Explanation(because, sum(bias for _, bias in found), rest, is_approximate)
