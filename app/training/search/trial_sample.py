"""TrialSample: the documents and labels that all trials of a search share, and their folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Truth
from app.folds import Folds
from app.training.fold_plan import FoldPlan

FOLDS = 3
FEWEST_LABELS = 32
FEWEST_DOCUMENTS = 4000


@dataclass(frozen=True, slots=True)
class TrialSample:
    """Some documents, the truth of some labels, and how many labels there are in all."""

    documents: Any
    truth: csr_array
    n_labels: int
    folds: Folds
    is_whole: bool

    @property
    def n_documents(self) -> int:
        """How many documents trials are made on."""
        return int(self.truth.shape[0])

    def scored_truth(self) -> csr_array:
        """The truth of the documents that are scored, which is what trials are judged by."""
        return self.truth[self.folds.scored()]

    def scored_marks(self) -> NDArray[np.bool_]:
        """The same, dense."""
        marks: NDArray[np.bool_] = self.scored_truth().toarray().astype(np.bool_)
        return marks

    def scored_parts(self) -> NDArray[np.int32]:
        """The part of each of these documents: 0, 1, 2 …"""
        scored = self.folds.parts[self.folds.scored()]
        parts: NDArray[np.int32] = scored - scored.min(initial=len(self.folds.parts))
        return parts

    def figures(self) -> dict[str, int]:
        """What the manifest keeps."""
        return {"documents": self.n_documents, "labels": int(self.truth.shape[1])}


def trial_sample(
    documents: Any, truth: Truth, plan: FoldPlan, *, words: float, most_work: float, seed: int
) -> TrialSample:
    """All of it, or so much that words × labels stays below the bound: fewer labels first.

    Of the labels every so many in the order of their frequency, so that rare ones stay as many as
    they are; then documents at random. They are held out as the plan says.
    """
    counts = np.bincount(csr_array(truth).indices, minlength=truth.shape[1])
    labels = np.argsort(-counts, kind="stable")
    labels = labels[counts[labels] > 0]
    work = words * truth.shape[0]
    n_labels = int(np.clip(most_work / max(work, 1), FEWEST_LABELS, len(labels)))
    labels = np.sort(labels[np.linspace(0, len(labels) - 1, n_labels).astype(np.int64)])
    n_documents = int(max(FEWEST_DOCUMENTS, most_work / max(words * n_labels, 1)))
    rows = _rows(truth.shape[0], n_documents, seed)
    some = csr_array(csc_array(truth)[:, labels])[rows]
    is_whole = len(rows) == truth.shape[0] and n_labels == truth.shape[1]
    folds = plan.among(rows).scored_in(FOLDS).folds(some, seed)
    return TrialSample(_taken(documents, rows), some, truth.shape[1], folds, is_whole)


def _rows(n_documents: int, at_most: int, seed: int) -> NDArray[np.int64]:
    if n_documents <= at_most:
        return np.arange(n_documents)
    chosen = np.random.default_rng(seed).choice(n_documents, at_most, replace=False)
    return np.sort(chosen).astype(np.int64)


def _taken(documents: Any, rows: NDArray[np.int64]) -> Any:
    if len(rows) == _length(documents):
        return documents
    if isinstance(documents, Sequence):
        return [documents[int(row)] for row in rows]
    return documents[rows]


def _length(documents: Any) -> int:
    return len(documents) if isinstance(documents, Sequence) else int(documents.shape[0])
