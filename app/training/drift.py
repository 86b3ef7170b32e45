"""Drift: whether documents at the end of the data are harder than random folds make believe.

One more model is fitted to the first four fifths of the documents in their order, of the most
frequent labels alone. Its micro-F1 on the last fifth stands beside that of the random folds on the
same documents and labels, at the same cuts. Both models know as many documents, so that a clear
difference comes from the order: newer documents differ from older ones, or the file is sorted.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores, Truth
from app.decisions.decision import Decision
from app.folds import Split
from app.heldout import HeldOut
from app.learners.base import Fitting, Learner
from app.learners.out_of_fold.fitting import scores_of_split

LEAST_DOCUMENTS = 1000
PARTS = 5
LABELS = 32
LEAST_DIFFERENCE = 0.02
STANDARD_ERRORS = 3
"""A difference is clear where so many standard errors below it are still `LEAST_DIFFERENCE`:
shuffled documents do not come near (docs/decisions.md)."""
GROUPED = 0.25
"""Alikeness of neighbours from where on documents look sorted: by time they had up to 0.09."""

LOOKS_DRIFTED = (
    "Words or labels change along the order of the documents. If that is their order in time, new "
    "documents will be predicted worse than held-out figures say: use --folds-by order, or with a "
    "column such as a date. If the order means nothing, shuffle the documents"
)
LOOKS_GROUPED = (
    "Neighbours share labels far more often than documents at random: the documents look sorted or "
    "grouped, by label or by source, rather than drifted. If the order means nothing, shuffle "
    "them; if a column has their time, use --folds-by with its name"
)


class ForwardScores(NamedTuple):
    """Scores (documents, labels) of the last documents by a model of the documents before them."""

    documents: NDArray[np.int32]
    labels: NDArray[np.int64]
    scores: Scores


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """Micro-F1 by random folds and forward, on the last documents and the most frequent labels."""

    random: float
    forward: float
    standard_error: float
    """Of the difference, by document."""
    neighbours_alike: float
    """How much more often neighbours share a label than documents at random (`alikeness`)."""
    n_documents: int
    n_labels: int

    @property
    def is_clear(self) -> bool:
        """Whether the difference is neither small nor chance."""
        least = LEAST_DIFFERENCE + STANDARD_ERRORS * self.standard_error
        return self.random - self.forward > least

    def figures(self) -> dict[str, Any]:
        """What the manifest keeps."""
        warning = self.warning()
        return {
            "random_micro_f1": self.random,
            "forward_micro_f1": self.forward,
            "standard_error": self.standard_error,
            "neighbours_alike": self.neighbours_alike,
            "documents": self.n_documents,
            "labels": self.n_labels,
            **({"warning": warning} if warning else {}),
        }

    def warning(self) -> str | None:
        """What was found, what it means and what to do; None where no difference is clear."""
        if not self.is_clear:
            return None
        found = (
            f"the last fifth of the data is predicted with micro-F1 {self.forward:.3f} by a model "
            f"of the documents before it, but with {self.random:.3f} by random folds "
            f"({self.n_documents:,} documents, the {self.n_labels} most frequent labels). "
        )
        return found + (LOOKS_GROUPED if self.neighbours_alike >= GROUPED else LOOKS_DRIFTED)


def forward_scores(
    learner: Learner, features: Features, truth: Truth, fitting: Fitting
) -> ForwardScores | None:
    """Scores of the last fifth by a model of the rest; None where it is not worth its price.

    The learner is fitted already: what it found out (costs) is not searched again. There are none
    where labels are not learnt one by one, and for few documents.
    """
    labels = _most_frequent(truth)
    apart = learner.for_labels(labels)
    if apart is None or truth.shape[0] < LEAST_DOCUMENTS:
        return None
    every = np.arange(truth.shape[0], dtype=np.int32)
    outside, inside = np.split(every, [truth.shape[0] - truth.shape[0] // PARTS])
    split = Split(inside, outside)
    scores = scores_of_split(apart, features, truth[:, labels], split, fitting)
    return ForwardScores(inside, labels, scores)


def drift_check(forward: ForwardScores, held_out: HeldOut, decision: Decision) -> DriftCheck | None:
    """The two compared at the decision's cuts; None where it has no cuts or there is no truth."""
    if decision.cuts is None or decision.most_labels is not None:
        return None
    documents, labels, scores = forward
    cuts, truth = decision.cuts[labels], csr_array(held_out.truth)
    marks = truth[documents][:, labels].toarray()
    if not marks.any():
        return None
    at_random = _Counts.of(held_out.block(documents, labels) > cuts, marks)
    in_order = _Counts.of(scores > cuts, marks)
    error = float(np.sqrt(np.sum((at_random.influences() - in_order.influences()) ** 2)))
    sizes = (len(documents), len(labels))
    return DriftCheck(at_random.micro_f1(), in_order.micro_f1(), error, alikeness(truth), *sizes)


def alikeness(truth: Truth) -> float:
    """How far neighbours share a label more often than documents at random do, at most 1.

    Documents without labels are left out. 1: each shares one with the next, as in a file that is
    sorted by label; 0: not more often than by chance.
    """
    labelled = csr_array(truth)[np.flatnonzero(np.diff(csr_array(truth).indptr))]
    if labelled.shape[0] < 2:
        return 0.0
    shuffled = labelled[np.random.default_rng(0).permutation(labelled.shape[0])]
    by_chance = _share_alike(shuffled)
    return (_share_alike(labelled) - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0


def _share_alike(truth: csr_array) -> float:
    shared = truth[:-1].multiply(truth[1:]).sum(axis=1)
    return float(np.mean(shared > 0))


def _most_frequent(truth: Truth) -> NDArray[np.int64]:
    counts = np.asarray(truth.sum(axis=0)).ravel()
    return np.sort(np.argsort(-counts, kind="stable")[:LABELS])


class _Counts(NamedTuple):
    """By document: twice the right assignments, and these with the wrong and missed ones."""

    hits: NDArray[np.float64]
    totals: NDArray[np.float64]

    @classmethod
    def of(cls, decided: NDArray[np.bool_], marks: NDArray[np.bool_]) -> "_Counts":
        hits = 2.0 * np.sum(decided & marks, axis=1)
        return cls(hits, hits + np.sum(decided ^ marks, axis=1))

    def micro_f1(self) -> float:
        return float(self.hits.sum() / max(self.totals.sum(), 1))

    def influences(self) -> NDArray[np.float64]:
        """What each document moves micro-F1 by, to first order: they sum to 0."""
        moved: NDArray[np.float64] = (self.hits - self.micro_f1() * self.totals) / max(
            self.totals.sum(), 1
        )
        return moved
