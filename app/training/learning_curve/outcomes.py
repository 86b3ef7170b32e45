"""What the points of a learning curve found: figures of the whole, and counts of every label."""

from dataclasses import dataclass

FIGURES = {"micro-F1": "micro.f1", "macro-F1": "macro_in_test.f1", "P@1": "P@1"}
"""What a curve is drawn of: macro-F1 over the labels of the documents aside at every size."""


@dataclass(frozen=True, slots=True)
class LabelOutcome:
    """What one label met with."""

    examples: int
    """Training documents that carry it."""
    tp: int
    fp: int
    fn: int


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """One model: how many documents it learnt from, and what it reached on those aside."""

    seed: int
    documents: int
    test_documents: int
    figures: dict[str, float]
    labels: dict[str, LabelOutcome]
