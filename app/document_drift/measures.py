"""DocumentMeasures: what is counted of a document: numbers that say nothing of its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.document_drift.histogram import DocumentHistogram

FREQUENCIES = {"frequent": 0.5, "middling": 0.8, "rare": 1.0}
"""Label groups: the most frequent labels up to so much of all label assignments of training."""
PROBABILITY_EDGES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9)
"""The same for every model: what is held out was scored by models of fewer documents, so that very
small and very large probabilities differ from those of the final model, and mean nothing."""

PROBABILITY = "probability_"

Values = dict[str, NDArray[np.float64]]


class MeasuringClassifier(Protocol):
    """What is asked of a classifier (app/classifier.py)."""

    def marks(self, scores: Scores, documents: Sequence[Any]) -> Marks:
        """The labels that documents with these scores get."""
        ...

    def probabilities(self, scores: Scores) -> NDArray[np.float32] | None:
        """The probabilities of these scores; None: there are none."""
        ...

    def unknown_terms(
        self, texts: Sequence[str], *, are_own: bool = False
    ) -> NDArray[np.float64] | None:
        """The share of each text's terms that are not known; None: that cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentMeasures:
    """Measures documents as one classifier sees them.

    `characters`, `unknown_terms` (the share of a text's terms that the vocabulary does not have,
    where the vectorizer can tell), `labels` (how many are assigned), and for each label group the
    probability of its likeliest label, where the model has probabilities.
    """

    classifier: MeasuringClassifier
    groups: dict[str, NDArray[np.int64]]
    """Columns by name; no group is empty."""

    @classmethod
    def of(
        cls, classifier: MeasuringClassifier, training_counts: NDArray[np.int64]
    ) -> "DocumentMeasures":
        """The measures of a model whose labels had so many training documents each."""
        return cls(classifier, _groups(np.asarray(training_counts)))

    def values(self, texts: Sequence[str], scores: Scores, *, are_own: bool = False) -> Values:
        """Every measure of these texts; `are_own`: the vocabulary was learnt from them, too."""
        found: Values = {
            "characters": np.fromiter(map(len, texts), np.float64, len(texts)),
            "labels": self.classifier.marks(scores, texts).sum(axis=1).astype(np.float64),
        }
        unknown = self.classifier.unknown_terms(texts, are_own=are_own)
        if unknown is not None:
            found["unknown_terms"] = unknown
        probabilities = self.classifier.probabilities(scores)
        if probabilities is not None:
            for name, columns in self.groups.items():
                likeliest = probabilities[:, columns].max(axis=1)
                found[f"{PROBABILITY}{name}"] = likeliest.astype(np.float64)
        return found


def histogram_of(name: str, values: NDArray[np.float64]) -> DocumentHistogram:
    """The histogram of a measure of many documents."""
    if name.startswith(PROBABILITY):
        return DocumentHistogram.at(np.array(PROBABILITY_EDGES), values)
    return DocumentHistogram.of(values)


def _groups(counts: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    order = np.argsort(-counts, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    bounds = [share * counts.sum() for share in FREQUENCIES.values()]
    group = np.searchsorted(bounds, before, side="right").clip(max=len(bounds) - 1)
    members = {name: np.sort(order[group == i]) for i, name in enumerate(FREQUENCIES)}
    return {name: columns for name, columns in members.items() if len(columns)}
