"""FoldPlan: how documents are held out, at random or forward along an order of the documents."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.datasets.collection import Collection
from app.errors import InvalidRequestError
from app.folds import Folds, Split, forward_folds
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.training.recipe import Recipe

VALIDATION_PARTS = 8
"""One document in so many is held out for a learner that needs a validation set."""


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """How many parts the documents make (0: none are held out), and along which order.

    Without an order, parts are random and have an even share of every label.
    """

    n_parts: int = 5
    order: NDArray[np.int64] | None = None
    checks_drift: bool = False
    """Whether one or two more models are fitted, to see if the end of the data is like the rest."""

    def folds(self, truth: Truth, seed: int) -> Folds:
        """The parts to score one after the other; never more than there are documents."""
        return self._folds(self.n_parts, truth, seed)

    def among(self, rows: NDArray[np.int64]) -> "FoldPlan":
        """The plan for some of the documents, which then are numbered from 0."""
        if self.order is None:
            return self
        places = np.empty(len(self.order), np.int64)
        places[self.order] = np.arange(len(self.order))
        return replace(self, order=np.argsort(places[rows], kind="stable"))

    def scored_in(self, n_parts: int) -> "FoldPlan":
        """The plan by which so many parts are scored: an order has one more, the first."""
        return replace(self, n_parts=n_parts + (self.order is not None))

    def validation_split(self, truth: Truth, seed: int) -> Split:
        """One part in eight held out: the last where there is an order."""
        splits = list(self._folds(VALIDATION_PARTS, truth, seed).splits())
        return splits[0] if self.order is None else splits[-1]

    def _folds(self, n_parts: int, truth: Truth, seed: int) -> Folds:
        n_parts = min(n_parts, truth.shape[0])
        if self.order is None:
            return stratified_folds(truth, n_parts, seed)
        return forward_folds(self.order, n_parts)


def fold_plan(recipe: Recipe, data: Collection) -> FoldPlan:
    """The plan of a recipe for these documents; folds of one member check for drift."""
    decision, is_alone = recipe.decision, len(recipe.members) == 1
    if decision.folds_by == "random":
        return FoldPlan(decision.folds, checks_drift=is_alone)
    if not decision.order_column:
        return FoldPlan(decision.folds, np.arange(len(data)), checks_drift=is_alone)
    if data.ranks is None:
        raise InvalidRequestError(
            f"--folds-by {decision.order_column}: the data were read without that column"
        )
    return FoldPlan(decision.folds, np.argsort(data.ranks, kind="stable"), checks_drift=is_alone)
