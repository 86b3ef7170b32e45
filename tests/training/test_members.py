"""How a member is fitted: which documents it learns from, and which it is tuned on."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import issparse

from app.arrays import Features, Scores, Truth, truth_from_rows
from app.learners import LEARNERS
from app.learners.base import Fitting, Learner
from app.learners.out_of_fold import fitting as out_of_fold
from app.learners.out_of_fold.scores import out_of_fold_scores
from app.state import State
from app.training.fold_plan import FoldPlan
from app.training.members import FittedMember, TrainingData, fit_member
from app.training.recipe import MemberRecipe

TEXTS = [f"word{number}" for number in range(40)]
TRUTH = truth_from_rows([[number % 2] for number in range(40)], 2)


@dataclass
class Recorder(Learner):
    """A learner that records what it is fitted to; its score is the number of those documents."""

    kind: ClassVar[str] = "recorder"
    documents: list[int] = field(default_factory=list, init=False)
    fitting: Fitting = field(default=Fitting(), init=False)
    scored_at_once: list[int] = field(default_factory=list, init=False)

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        self.documents, self.fitting = terms(features), fitting or Fitting()
        return self

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        self.scored_at_once.append(features.shape[0])
        return np.full((features.shape[0], 2), len(self.documents), np.float32)

    def state(self) -> State:
        return State(self.kind)

    @classmethod
    def from_state(cls, state: State) -> Self:
        return cls()


class EarlyStopping(Recorder):
    """The same for a learner that stops early on a validation set."""

    kind: ClassVar[str] = "early-stopping"
    needs_validation_set: ClassVar[bool] = True


def terms(features: Features) -> list[int]:
    """The documents of these rows: each text is one word of its own."""
    return np.sort(features.indices).tolist()


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    for learner in (Recorder, EarlyStopping):
        monkeypatch.setitem(LEARNERS, learner.kind, f"{__name__}:{learner.__name__}")


def fitted(
    kind: str, folds: int = 5, order: NDArray[np.int64] | None = None, **data: Any
) -> tuple[FittedMember, Recorder]:
    plan, fitting = FoldPlan(folds, order), Fitting(seed=3)
    member = fit_member(
        MemberRecipe(kind), TrainingData(TEXTS, TRUTH, **data), plan=plan, fitting=fitting
    )
    learner = member.member.learner
    assert isinstance(learner, Recorder)
    return member, learner


def test_folds_score_every_document_by_a_learner_fitted_to_the_others() -> None:
    member, learner = fitted("recorder", folds=4)
    assert len(learner.documents) == 40
    assert learner.fitting.valid is None
    assert learner.fitting.seed == 3
    assert member.rows.tolist() == list(range(40))
    assert member.held_out is not None
    assert set(np.unique(member.held_out.scores)) == {30.0}


def test_a_validation_set_is_one_document_in_eight_and_the_learner_is_not_fitted_to_it() -> None:
    member, learner = fitted("early-stopping")
    assert member.rows.tolist() == sorted(set(range(40)) - set(row_numbers(learner.documents)))
    assert len(member.rows) == 5
    assert learner.fitting.valid is not None
    rows, truth = learner.fitting.valid
    assert row_numbers(terms(rows)) == member.rows.tolist()
    assert (truth != TRUTH[member.rows]).nnz == 0
    assert member.held_out is not None
    assert member.held_out.n_documents == 5


@pytest.mark.parametrize("kind", ["recorder", "early-stopping"])
def test_documents_given_to_tune_on_are_shown_to_the_learner_and_all_others_fitted_to(
    kind: str,
) -> None:
    given = {"valid_documents": TEXTS[:6], "valid_truth": TRUTH[:6]}
    member, learner = fitted(kind, **given)
    assert len(learner.documents) == 40
    assert learner.fitting.valid is not None
    assert learner.fitting.valid[0].shape[0] == 6
    assert (learner.fitting.valid[1] != TRUTH[:6]).nnz == 0
    assert member.held_out is not None
    assert member.rows.tolist() == list(range(6))


@pytest.mark.parametrize("kind", ["recorder", "early-stopping"])
def test_without_folds_nothing_is_held_out(kind: str) -> None:
    member, learner = fitted(kind, folds=0)
    assert member.held_out is None
    assert len(learner.documents) == 40


def test_along_an_order_each_part_is_scored_by_what_came_before_and_the_first_never() -> None:
    order = np.random.default_rng(0).permutation(40)
    member, _ = fitted("recorder", folds=4, order=order)
    assert member.rows.tolist() == sorted(order[10:].tolist())
    assert member.held_out is not None
    assert (member.held_out.truth != TRUTH[member.rows]).nnz == 0
    scores = dict(zip(member.rows.tolist(), member.held_out.scores[:, 0].tolist(), strict=True))
    assert [scores[row] for row in order[10:].tolist()] == [10.0] * 10 + [20.0] * 10 + [30.0] * 10


def test_along_an_order_the_validation_set_is_the_last_eighth() -> None:
    order = np.random.default_rng(0).permutation(40)
    member, learner = fitted("early-stopping", order=order)
    assert member.rows.tolist() == sorted(order[35:].tolist())
    assert row_numbers(learner.documents) == sorted(order[:35].tolist())


def row_numbers(columns: list[int]) -> list[int]:
    """The documents of tf-idf columns, whose terms are in the order of their code points."""
    return sorted(int(sorted(TEXTS)[column].removeprefix("word")) for column in columns)


@pytest.mark.parametrize("kind", ["recorder", "early-stopping"])
@pytest.mark.parametrize("has_validation_file", [True, False])
def test_held_out_scores_are_collected_under_one_bound(
    kind: str, has_validation_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out_of_fold, "DOCUMENTS_AT_ONCE", 3)
    monkeypatch.setattr(
        out_of_fold, "out_of_fold_scores", partial(out_of_fold_scores, dense_cells=9)
    )
    valid = {"valid_documents": TEXTS, "valid_truth": TRUTH} if has_validation_file else {}
    member, learner = fitted(kind, **valid)
    assert member.held_out is not None
    assert issparse(member.held_out.scores)
    assert len(member.rows) == member.held_out.n_documents
    assert max(learner.scored_at_once, default=0) <= 3
