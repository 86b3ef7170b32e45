"""Drift: whether documents at the end of the data are harder than random folds make believe.

One more model is fitted to the first four fifths of the documents in their order, of the most
frequent labels alone. Its micro-F1 on the last fifth stands beside that of the random folds on the
same documents and labels, at the same cuts. Both models know as many documents, so that a clear
difference comes from the order: newer documents differ from older ones, or the file is sorted.
Where folds go along an order, it is the other way round: two more models of documents at random
tell what random folds would have promised of the last part.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores, Truth
from app.decisions.decision import Decision
from app.folds import Folds, Split
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
GAP_ERRORS = 2
"""From so many standard errors on both figures are shown: of forty shuffled files, one has that."""
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


KNOWN_BY_ORDER = (
    "The held-out figures are those of the order; random folds would promise more than new "
    "documents give"
)


class ForwardScores(NamedTuple):
    """Scores (documents, labels) of the last documents by a model of the documents before them."""

    documents: NDArray[np.int32]
    labels: NDArray[np.int64]
    scores: Scores


class RandomScores(NamedTuple):
    """Scores of the last documents by models of as many others, drawn at random."""

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
    is_by_order: bool = False
    """Whether the folds of the training went along the order."""

    @property
    def is_clear(self) -> bool:
        """Whether the difference is neither small nor chance."""
        least = LEAST_DIFFERENCE + STANDARD_ERRORS * self.standard_error
        return self.random - self.forward > least

    @property
    def is_gap(self) -> bool:
        """Whether the difference is more than chance, though it may be small: both are said."""
        return self.random - self.forward > GAP_ERRORS * self.standard_error

    def figures(self) -> dict[str, Any]:
        """What the manifest keeps."""
        warning, note = self.warning(), self.note()
        return {
            "random_micro_f1": self.random,
            "forward_micro_f1": self.forward,
            "standard_error": self.standard_error,
            "gap": self.is_gap,
            "neighbours_alike": self.neighbours_alike,
            "documents": self.n_documents,
            "labels": self.n_labels,
            **({"warning": warning} if warning else {}),
            **({"note": note} if note else {}),
        }

    def warning(self) -> str | None:
        """What was found, what it means and what to do; None where no difference is clear.

        None, too, where folds went along the order: what they promise is right then.
        """
        if not self.is_clear or self.is_by_order:
            return None
        found = (
            f"the last fifth of the data is predicted with micro-F1 {self.forward:.3f} by a model "
            f"of the documents before it, but with {self.random:.3f} by random folds "
            f"({self.n_documents:,} documents, the {self.n_labels} most frequent labels). "
        )
        return found + (LOOKS_GROUPED if self.neighbours_alike >= GROUPED else LOOKS_DRIFTED)

    def note(self) -> str | None:
        """Both figures where folds went along the order and random ones would promise more."""
        if not self.is_gap or not self.is_by_order:
            return None
        return (
            f"the last {self.n_documents:,} documents are predicted with micro-F1 "
            f"{self.forward:.3f} by a model of the documents before them, and with "
            f"{self.random:.3f} by models of as many documents at random (the {self.n_labels} most "
            f"frequent labels). {KNOWN_BY_ORDER}"
        )


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


def random_scores(
    learner: Learner, features: Features, truth: Truth, folds: Folds, fitting: Fitting
) -> RandomScores | None:
    """Scores of the last part of forward folds by models of random documents; None as above.

    Each half of the part is scored by a model of as many documents as come before the part, drawn
    from all others. There are none where columns are selected, by every model for itself.
    """
    labels, last = _most_frequent(truth), folds.parts.max(initial=0)
    is_small = truth.shape[0] < LEAST_DOCUMENTS or last == 0
    if is_small or fitting.selected_rows is not None or learner.for_labels(labels) is None:
        return None
    rng = np.random.default_rng([fitting.seed, 11])
    documents = np.flatnonzero(folds.parts == last).astype(np.int32)
    scores = np.empty((len(documents), len(labels)), np.float32)
    for half in np.array_split(rng.permutation(len(documents)), 2):
        others = np.setdiff1d(np.arange(truth.shape[0]), documents[half])
        known = rng.choice(others, truth.shape[0] - len(documents), replace=False)
        rows = np.concatenate([documents[half], np.sort(known)])
        inside, outside = np.split(np.arange(len(rows), dtype=np.int32), [len(half)])
        apart = learner.for_labels(labels)
        if apart is not None:
            own = (features[rows], truth[rows][:, labels], Split(inside, outside), fitting)
            scores[half] = scores_of_split(apart, *own)
    return RandomScores(documents, labels, scores)


def drift_check(
    others: ForwardScores | RandomScores,
    held_out: HeldOut,
    decision: Decision,
    rows: NDArray[np.int64] | None = None,
) -> DriftCheck | None:
    """The two compared at the decision's cuts; None where it has no cuts or there is no truth.

    `rows` are the documents that were held out; None: all.
    """
    if decision.cuts is None or decision.most_labels is not None:
        return None
    documents, labels, scores = others
    places = documents if rows is None else np.searchsorted(rows, documents)
    cuts, truth = decision.cuts[labels], csr_array(held_out.truth)
    marks = truth[places][:, labels].toarray()
    if not marks.any():
        return None
    is_by_order = isinstance(others, RandomScores)
    of_folds = _Counts.of(held_out.block(places, labels) > cuts, marks)
    of_others = _Counts.of(scores > cuts, marks)
    at_random, in_order = (of_others, of_folds) if is_by_order else (of_folds, of_others)
    error = float(np.sqrt(np.sum((at_random.influences() - in_order.influences()) ** 2)))
    sizes = (len(documents), len(labels), is_by_order)
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
