"""Which labels need more examples: those that still gain from them, and those with hardly any."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.training.learning_curve.outcomes import LabelOutcome, LearningPoint

LEAST_GAIN = 0.02
STANDARD_ERRORS = 1.64
"""A gain is called one where so many standard errors do not explain it: one in twenty does by
chance, so that of a hundred labels that gain nothing five may be named."""
FEW = 10
"""Training examples below which a label's gain cannot be told."""

RISING, TOO_FEW = "rising", "few"


@dataclass(frozen=True, slots=True)
class LabelNeed:
    """One label: what half of the examples and all of them gave."""

    label: str
    examples: int
    """Training documents with it in the largest part, on average."""
    test_documents: int
    """Judged documents with it, over all repeats."""
    half_f1: float
    f1: float
    standard_error: float
    """Of the gain, as if the two were judged on different documents: rather too large."""
    verdict: str
    """`rising`: more examples help; `few`: so few that nothing can be told; empty: neither."""

    @property
    def gain(self) -> float:
        """What the second half of the examples added to F1."""
        return self.f1 - self.half_f1


def label_needs(
    halves: Sequence[LearningPoint], wholes: Sequence[LearningPoint]
) -> list[LabelNeed]:
    """Every label of the documents aside: rising ones by gain, then those with few, then others.

    `halves` and `wholes` are the points of half of the documents and of all, a repeat each.
    """
    names = sorted({name for point in wholes for name in point.labels})
    needs = [_need(name, halves, wholes) for name in names]
    judged = [need for need in needs if need.test_documents]
    ranks = {RISING: 0, TOO_FEW: 1, "": 2}
    return sorted(judged, key=lambda need: (ranks[need.verdict], -need.gain, need.label))


def _need(name: str, halves: Sequence[LearningPoint], wholes: Sequence[LearningPoint]) -> LabelNeed:
    half, whole = _sum(name, halves), _sum(name, wholes)
    support = whole.tp + whole.fn
    half_f1, f1 = _f1(half), _f1(whole)
    error = ((_variance(half) + _variance(whole)) / max(support, 1)) ** 0.5
    examples = round(whole.examples / len(wholes))
    verdict = _verdict(f1 - half_f1, error, f1, examples)
    return LabelNeed(name, examples, support, half_f1, f1, error, verdict)


def _verdict(gain: float, error: float, f1: float, examples: int) -> str:
    if examples < FEW:
        return TOO_FEW if f1 < 1 else ""
    return RISING if gain >= LEAST_GAIN and gain > STANDARD_ERRORS * error else ""


def _sum(name: str, points: Sequence[LearningPoint]) -> LabelOutcome:
    found = [point.labels[name] for point in points if name in point.labels]
    return LabelOutcome(
        sum(own.examples for own in found),
        sum(own.tp for own in found),
        sum(own.fp for own in found),
        sum(own.fn for own in found),
    )


def _variance(counts: LabelOutcome) -> float:
    """F1 · (1 - F1), with one more of each kind: a label that is always right may still err."""
    share = (2 * counts.tp + 1) / (2 * counts.tp + counts.fp + counts.fn + 2)
    return share * (1 - share)


def _f1(counts: LabelOutcome) -> float:
    return 2 * counts.tp / max(2 * counts.tp + counts.fp + counts.fn, 1)
