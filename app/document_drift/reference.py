"""DriftReference: the histograms of held-out documents that a model keeps, and what is compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from app.arrays import Scores
from app.document_drift.figures import DriftFigure, drift_figure
from app.document_drift.histogram import DocumentHistogram
from app.document_drift.measures import DocumentMeasures, MeasuringClassifier, Values, histogram_of
from app.heldout import HeldOut

LEAST_HELD_OUT = 200
"""Fewer documents say too little of what is usual: then nothing is kept."""
MOST_HELD_OUT = 5000
CHUNK_CELLS, MOST_CELLS = 1_000_000, 50_000_000
"""Scores looked at together, and in all."""

Counts = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class DriftReference:
    """What was usual, by measure, and how new documents are measured alike."""

    measures: DocumentMeasures
    histograms: dict[str, DocumentHistogram]

    @classmethod
    def of(
        cls,
        classifier: MeasuringClassifier,
        training_counts: NDArray[np.int64],
        bins: Mapping[str, dict[str, Any]],
    ) -> Self:
        """The reference that a manifest keeps."""
        histograms = {name: DocumentHistogram.from_dict(own) for name, own in bins.items()}
        return cls(DocumentMeasures.of(classifier, training_counts), histograms)

    def counted(self, texts: Sequence[str], scores: Scores) -> Counts:
        """How many of these texts fall into each bin, by measure."""
        values = self.measures.values(texts, scores)
        known = self.histograms
        return {name: known[name].counted(own) for name, own in values.items() if name in known}

    def figures(self, counts: Mapping[str, NDArray[np.int64]]) -> list[DriftFigure]:
        """How far documents with these counts are from what was usual, by measure."""
        usual, n = self.histograms, len(counts)
        return [
            drift_figure(name, usual[name].counts.tolist(), own.tolist(), n)
            for name, own in counts.items()
        ]


def held_out_histograms(
    measures: DocumentMeasures, texts: Sequence[str], held_out: HeldOut, *, are_own: bool
) -> dict[str, dict[str, Any]] | None:
    """What the manifest keeps of held-out texts, one a row of the scores; None for too few.

    `are_own`: the vocabulary was learnt from these texts, too.
    """
    if len(texts) < LEAST_HELD_OUT:
        return None
    rows = _rows(len(texts), held_out.n_labels)
    scores = held_out.scores[rows]  # at once: each look for rows goes through a sparse matrix
    scores = csr_array(scores) if issparse(scores) else scores
    n_chunks = max(1, len(rows) * held_out.n_labels // CHUNK_CELLS)
    each = [
        measures.values([texts[row] for row in rows[own]], _dense(scores[own]), are_own=are_own)
        for own in np.array_split(np.arange(len(rows)), min(n_chunks, len(rows)))
    ]
    return {name: histogram_of(name, own).as_dict() for name, own in _joined(each).items()}


def _rows(n_documents: int, n_labels: int) -> NDArray[np.int64]:
    """Some of the documents, evenly spaced; fewer where there are very many labels."""
    most = max(LEAST_HELD_OUT, min(MOST_HELD_OUT, MOST_CELLS // n_labels))
    return np.unique(np.linspace(0, n_documents - 1, min(n_documents, most)).astype(np.int64))


def _joined(each: list[Values]) -> Values:
    return {name: np.concatenate([own[name] for own in each]) for name in each[0]}


def _dense(scores: Any) -> Scores:
    if not issparse(scores):
        return np.ascontiguousarray(scores)
    stored = scores.tocoo()
    dense = np.full(stored.shape, -np.inf, np.float32)
    dense[stored.row, stored.col] = stored.data
    return dense
