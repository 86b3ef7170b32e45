"""Sleeping Experts: phrases of up to four words vote on each label (Cohen & Singer 1996).

An expert is a phrase; it is awake where the phrase is in the text, and has a weight for the label
and one against it. Weights are multiplied down, document by document, whenever they were wrong.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.csr_rows import CsrRows
from app.learners.base import Fitting, Learner
from app.learners.linear.label_weights import LabelWeights
from app.learners.ordered_map import results_of
from app.state import State

LEAST_VOTE = 1e-12


class LabelVotes(NamedTuple):
    """One label's experts: their columns, and what they vote against and for it."""

    columns: NDArray[np.int64]
    votes: NDArray[np.float64]


class Experts(Learner):
    """The score is the log-odds of the vote of all experts that are awake.

    A label's experts are the phrases of at least `min_documents` of its documents: others could
    only vote against it. `passes` times over the documents, wrong votes times `beta`. `prior` is
    the weight of a vote by the label's overall share, which decides where all experts sleep.
    """

    kind: ClassVar[str] = "experts"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = {"ngram_range": (1, 4), "min_df": 3}

    def __init__(
        self, beta: float = 0.5, passes: int = 1, min_documents: int = 2, prior: float = 0.1
    ) -> None:
        if not 0 < beta < 1:
            raise InvalidRequestError("experts beta: a number between 0 and 1")
        self.beta, self.passes = beta, passes
        self.min_documents, self.prior = min_documents, prior
        self._against, self._in_favour = LabelWeights.unfitted(), LabelWeights.unfitted()

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn each label's votes on their own."""
        fitting = fitting or Fitting()
        present = features.astype(np.bool_)
        together = csc_array(present.T.astype(np.int32) @ truth.astype(np.int32))
        by_phrase = csc_array(present)
        order, by_label = self._order(truth.shape[0], fitting.seed), csc_array(truth)

        def learnt(label: int) -> LabelVotes:
            span = slice(together.indptr[label], together.indptr[label + 1])
            is_expert = together.data[span] >= self.min_documents
            experts = np.sort(together.indices[span][is_expert]).astype(np.int64)
            awake = csr_array(by_phrase[:, experts])  # most labels have few of all phrases
            return LabelVotes(experts, self._votes(awake, _marks(by_label, label), order))

        by_number = results_of(learnt, range(truth.shape[1]), fitting.jobs, fitting.progress)
        shares = (np.asarray(truth.sum(axis=0)) + 0.5) / (truth.shape[0] + 1.0)
        self._keep(by_number, features.shape[1], shares * self.prior)
        return self

    def _votes(self, awake: csr_array, marks: NDArray[np.bool_], order: Any) -> NDArray[np.float64]:
        """The votes of the experts that are awake in each document: (experts, 2)."""
        votes, rows = np.ones((awake.shape[1], 2)), CsrRows.of(awake)[:2]
        train = kernels("solver.sleeping_experts").train_experts
        train(rows, read_only(marks), order, self.beta, votes)
        return votes

    def _keep(self, by_label: list[LabelVotes], n_features: int, prior: NDArray[Any]) -> None:
        columns = np.concatenate([votes.columns for votes in by_label])
        labels = np.repeat(np.arange(len(by_label)), [len(votes.columns) for votes in by_label])
        both = np.concatenate([votes.votes for votes in by_label])
        kept = []
        for side, bias in ((0, self.prior - prior), (1, prior)):
            values = (both[:, side] + LEAST_VOTE).astype(np.float32)
            matrix = csr_array((values, (columns, labels)), shape=(n_features, len(by_label)))
            matrix.sort_indices()
            kept.append(LabelWeights.of(matrix, bias.astype(np.float32)))
        self._against, self._in_favour = kept

    def _order(self, n_documents: int, seed: int) -> NDArray[np.int32]:
        pick = np.random.default_rng(seed)
        passes = [pick.permutation(n_documents) for _ in range(self.passes)]
        return read_only(np.concatenate(passes).astype(np.int32))

    def for_labels(self, labels: NDArray[np.int64]) -> "Experts":
        """The same settings; each label has experts of its own."""
        return Experts(**self._settings())

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """ln of the votes for the label over those against it."""
        present = features.astype(np.bool_).astype(np.float32)
        in_favour = self._in_favour.scores(present, jobs=jobs)
        return np.asarray(np.log(in_favour / self._against.scores(present, jobs=jobs)))

    def _settings(self) -> dict[str, Any]:
        return {
            "beta": self.beta,
            "passes": self.passes,
            "min_documents": self.min_documents,
            "prior": self.prior,
        }

    def state(self) -> State:
        """Settings and both votes of every expert."""
        parts = {
            "against": State("votes", {}, self._against.arrays),
            "in-favour": State("votes", {}, self._in_favour.arrays),
        }
        return State(self.kind, self._settings(), parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner._against = LabelWeights(state.parts["against"].arrays)
        learner._in_favour = LabelWeights(state.parts["in-favour"].arrays)
        return learner


def _marks(by_label: Any, label: int) -> NDArray[np.bool_]:
    marks = np.zeros(by_label.shape[0], np.bool_)
    marks[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
    return marks
