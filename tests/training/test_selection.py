"""Terms are selected inside the fold: held-out documents do not choose their own features."""

from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from app.folds import Split
from app.learners import LEARNERS
from app.learners.base import Fitting
from app.learners.out_of_fold.fitting import scores_of_split
from app.learners.rocchio import Rocchio
from app.training.fold_plan import FoldPlan
from app.training.members import FittedMember, TrainingData, fit_member
from app.training.recipe import MemberRecipe
from app.vectorizers.tfidf import Tfidf

RANDOM = np.random.default_rng(1)
TEXTS = [" ".join(f"word{number}" for number in RANDOM.integers(0, 3000, 30)) for _ in range(300)]
NOISE = csr_array(RANDOM.random((300, 3)) < 0.4)
"""Labels that no word tells anything of."""
SELECTION = {"select": "chi2", "keep": 40}


class ByValidation(Rocchio):
    """A learner that has a part of the documents held out for itself."""

    kind: ClassVar[str] = "by-validation"
    needs_validation_set: ClassVar[bool] = True


def fitted(learner: str, folds: int = 4) -> FittedMember:
    recipe = MemberRecipe(learner, {}, SELECTION)
    plan = FoldPlan(folds, checks_drift=True)
    return fit_member(recipe, TrainingData(TEXTS, NOISE), plan=plan, fitting=Fitting())


def auc(scores: object, truth: csr_array) -> float:
    """How well scores tell labels that are true from those that are not; 0.5 is chance."""
    return float(roc_auc_score(truth.toarray().ravel(), np.asarray(scores).ravel()))


@pytest.mark.parametrize("learner", ["one-vs-rest", "rocchio", "naive-bayes", "by-validation"])
def test_held_out_scores_of_labels_by_chance_are_chance(
    learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LEARNERS, "by-validation", f"{__name__}:ByValidation")
    member = fitted(learner)
    assert member.held_out is not None
    assert abs(auc(member.held_out.scores, member.held_out.truth) - 0.5) < 0.12


def test_terms_selected_by_held_out_documents_too_would_show_in_that_figure() -> None:
    vectorizer = Tfidf(**SELECTION)
    rows = vectorizer.select(vectorizer.fit_transform(TEXTS), NOISE)
    split = Split(*np.split(np.arange(300, dtype=np.int32), [100]))
    scores = scores_of_split(Rocchio(), rows, NOISE, split, Fitting())
    assert auc(scores, NOISE[:100]) > 0.65


def test_scores_by_a_model_of_fewer_documents_have_their_own_selection() -> None:
    member = fitted("one-vs-rest")
    assert member.held_out is not None
    fewer = member.held_out.fewer
    assert fewer is not None
    assert abs(auc(fewer.scores, NOISE[fewer.rows][:, fewer.labels]) - 0.5) < 0.12


@pytest.mark.parametrize("folds", [0, 4])
def test_the_model_has_the_terms_that_all_documents_choose(folds: int) -> None:
    member = fitted("one-vs-rest", folds).member
    vectorizer = Tfidf(**SELECTION)
    vectorizer.select(vectorizer.fit_transform(TEXTS), NOISE)
    assert list(member.vectorizer.terms()) == vectorizer.terms()
    assert len(vectorizer.terms()) == 40


def test_a_lone_text_and_many_are_scored_on_the_kept_terms_as_in_training() -> None:
    member = fitted("one-vs-rest").member
    rows = member.vectorizer.transform(TEXTS[:5])
    assert rows.shape[1] == 40
    expected = member.learner.scores(rows)
    np.testing.assert_allclose(member.scores(TEXTS[:5]), expected, atol=1e-5)
    np.testing.assert_allclose(member.scores(TEXTS[:1]), expected[:1], atol=1e-5)
