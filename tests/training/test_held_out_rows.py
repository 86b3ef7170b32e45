"""Held-out documents look to a fold's model as new texts will: without terms it never saw."""

from typing import Any

import numpy as np
import pytest

from app.arrays import truth_from_rows
from app.folds import Folds
from app.learners.base import Fitting
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.training.fold_plan import FoldPlan
from app.training.members import TrainingData, built, fit_member
from app.training.recipe import MemberRecipe
from app.vectorizers.ready_made import ReadyMade
from app.vectorizers.sequences import UNKNOWN, Sequences
from app.vectorizers.tfidf import Tfidf

TOPICS = (["wheat", "corn", "farm"], ["rate", "bank", "loan"], ["ship", "port", "crew"])
PICK = np.random.default_rng(5)
TEXTS = [
    " ".join([*PICK.choice(TOPICS[i % 3], 3), PICK.choice(TOPICS[PICK.integers(3)]), f"own{i}"])
    + f" other{i} third{i}"
    for i in range(90)
]
TRUTH = truth_from_rows([[i % 3] for i in range(90)], 3)
FOLDS = stratified_folds(TRUTH, 5, 0)


def without_unseen_words(fold: int) -> list[str]:
    """The texts of a fold with only the words that texts of other folds have."""
    others = {word for i in np.flatnonzero(fold != FOLDS.parts) for word in TEXTS[i].split()}
    texts = [TEXTS[i].split() for i in np.flatnonzero(fold == FOLDS.parts)]
    return [" ".join(word for word in words if word in others) for words in texts]


@pytest.mark.parametrize("settings", [{}, {"scheme": "log"}, {"scheme": "atc", "max_df": 0.9}])
def test_rows_are_those_of_the_texts_without_words_that_other_folds_lack(settings: Any) -> None:
    vectorizer = Tfidf(**settings)
    rows = vectorizer.held_out_rows(vectorizer.fit_transform(TEXTS), FOLDS)
    for fold in range(5):
        expected = vectorizer.transform(without_unseen_words(fold)).toarray()
        np.testing.assert_allclose(rows[fold == FOLDS.parts].toarray(), expected, atol=1e-6)


def test_word_pairs_of_one_fold_take_no_part_of_a_rows_length() -> None:
    texts = ["grain farm", "farm grain", "grain", "farm"]
    vectorizer = Tfidf(ngram_range=(1, 2))
    rows = vectorizer.held_out_rows(vectorizer.fit_transform(texts), Folds(np.array([0, 1, 1, 0])))
    columns = {term: column for column, term in enumerate(vectorizer.terms())}
    assert rows[[0]].toarray()[0, columns["grain farm"]] == 0
    np.testing.assert_allclose((rows.toarray() ** 2).sum(axis=1), 1, atol=1e-6)


def test_a_document_of_words_that_no_other_fold_has_is_an_empty_row() -> None:
    vectorizer = Tfidf()
    features = vectorizer.fit_transform(["alone here", "corn", "corn", ""])
    rows = vectorizer.held_out_rows(features, Folds(np.array([0, 0, 1, 1])))
    np.testing.assert_allclose(rows.toarray().sum(axis=1), [0, 1, 1, 0])


def test_words_that_a_network_did_not_train_on_are_unknown_to_it() -> None:
    vectorizer = Sequences(min_count=1)
    features = vectorizer.fit_transform(["corn wheat", "corn rye"])
    rows = vectorizer.held_out_rows(features, Folds(np.array([1, 0]))).toarray()
    assert rows[0, 0] == vectorizer.numbers["corn"]
    assert rows[0, 1] == UNKNOWN


def test_ready_made_features_stay_as_they_are() -> None:
    features = ReadyMade().fit_transform([([0], [2.0]), ([1], [3.0])])
    assert ReadyMade().held_out_rows(features, Folds(np.array([0, 1]))) is features


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("one-vs-rest", {"solver": "block", "options": "-s 1 -e 1e-3"}),
        ("one-vs-rest", {"solver": "liblinear"}),
        ("binary-and-multiclass", {}),
        ("tree", {"n_trees": 1, "link": "squared-hinge", "options": "-s 1 -c 1 -B 1 -e 0.001"}),
    ],
)
def test_held_out_scores_are_those_of_texts_without_unseen_words(
    learner: str, settings: dict[str, Any]
) -> None:
    recipe = MemberRecipe(learner, settings, {})
    fitted = fit_member(recipe, TrainingData(TEXTS, TRUTH), plan=FoldPlan(5), fitting=Fitting())
    assert fitted.held_out is not None
    vectorizer, features = fitted.member.vectorizer, Tfidf().fit_transform(TEXTS)
    for fold in range(5):
        outside = fold != FOLDS.parts
        apart = built(recipe)[1].fit(features[outside], TRUTH[outside], Fitting())
        expected = apart.scores(vectorizer.transform(without_unseen_words(fold)))
        found = np.asarray(fitted.held_out.scores)[fold == FOLDS.parts]
        np.testing.assert_allclose(found, expected, atol=0.03)
