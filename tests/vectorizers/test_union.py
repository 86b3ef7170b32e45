"""Several kinds of features in one member: rows side by side, in recipes and by the kernels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack

from app.arrays import truth_from_rows
from app.classifier import Classifier, Member
from app.decisions.decision import Decision
from app.errors import DamagedArtifactError, InvalidRequestError
from app.explanation import explain
from app.folds import Folds
from app.kernels import kernels
from app.kernels.linear.answer_values import NO_CURVES
from app.kernels.linear.fused_scorer import JoinedScorer
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.linear.label_weights import LabelWeights
from app.training.fold_plan import FoldPlan
from app.training.members import FittedMember, TrainingData, built, fit_member
from app.training.recipe import read_recipe
from app.vectorizers.tfidf import Tfidf
from app.vectorizers.union import Union

RECIPE = """
[[features.parts]]
analyzer = "word"

[[features.parts]]
analyzer = "word"
ngram_range = [2, 2]
weight = 0.5

[[features.parts]]
analyzer = "char_wb"
ngram_range = [3, 5]
min_df = 2
"""
TOPICS = (["wheat", "corn", "farm"], ["rate", "bank", "loan"], ["ship", "port", "crew"])
PICK = np.random.default_rng(3)
TEXTS = [" ".join([*PICK.choice(TOPICS[i % 3], 4), f"own{i}"]) for i in range(60)] + ["", "Été"]
TRUTH = truth_from_rows([*([i % 3] for i in range(60)), [], []], 3)


def parts_of(union: Union) -> list[tuple[Tfidf, float]]:
    return list(zip(union.parts, union.weights, strict=True))


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path / "recipe.toml"


@pytest.fixture
def member(recipe: Path) -> FittedMember:
    (own,) = read_recipe(recipe).completed().members
    return fit_member(own, TrainingData(TEXTS, TRUTH), plan=FoldPlan(3), fitting=Fitting())


def test_a_row_is_the_parts_rows_of_length_one_times_their_weights() -> None:
    union = Union(parts=[{}, {"analyzer": "char", "ngram_range": (2, 3), "weight": 0.3}])
    words, characters = Tfidf(), Tfidf(analyzer="char", ngram_range=(2, 3))
    expected = hstack([words.fit_transform(TEXTS), 0.3 * characters.fit_transform(TEXTS)])
    np.testing.assert_allclose(union.fit_transform(TEXTS).toarray(), expected.toarray(), rtol=1e-6)
    assert list(union.terms()) == [*words.terms(), *characters.terms()]


def test_what_stands_beside_the_parts_holds_for_each_that_does_not_say_otherwise() -> None:
    union = Union(parts=[{}, {"scheme": "ltc"}], scheme="log", min_df=2)
    assert [part.settings.scheme for part in union.parts] == ["log", "ltc"]
    assert [part.settings.min_df for part in union.parts] == [2, 2]


def test_a_recipe_with_parts_has_one_member_and_its_learners_scheme(recipe: Path) -> None:
    changes = ["features.parts.1.weight=0.25"]
    (own,) = read_recipe(recipe, changes=changes).completed().members
    union = built(own)[0]
    assert isinstance(union, Union)
    assert union.weights == [1.0, 0.25, 1.0]
    assert {part.settings.scheme for part in union.parts} == {"log"}


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ([], "one table or more"),
        ("words", "one table or more"),
        ([{"analyzers": "word"}], "no setting 'analyzers'; accepted: analyzer"),
        ([{}, {"weight": 0}], "features.parts 1: weight is a number above 0"),
        ([{"weight": True}], "weight is a number above 0"),
        ([{"analyzer": "line"}], "accepted: one of word, char"),
    ],
)
def test_parts_that_mean_nothing_are_refused_by_name(parts: Any, problem: str) -> None:
    with pytest.raises(InvalidRequestError, match=problem):
        Union(parts=parts)


def test_a_learner_that_reads_no_tfidf_refuses_parts(recipe: Path) -> None:
    with pytest.raises(InvalidRequestError, match="reads sequences"):
        read_recipe(recipe, learner="kim-cnn").completed()


def test_held_out_rows_are_each_parts_own_in_the_same_stored_places() -> None:
    union, folds = Union(), Folds(np.arange(len(TEXTS), dtype=np.int32) % 3)
    features = union.fit_transform(TEXTS)
    rows = union.held_out_rows(features, folds)
    np.testing.assert_array_equal(rows.indices, features.indices)
    np.testing.assert_array_equal(rows.indptr, features.indptr)
    expected = [
        weight * part.held_out_rows(part.transform(TEXTS), folds).toarray()
        for part, weight in parts_of(union)
    ]
    np.testing.assert_allclose(rows.toarray(), np.hstack(expected), atol=1e-6)


@pytest.mark.parametrize("documents", [np.arange(len(TEXTS)), np.arange(30)])
def test_each_part_selects_its_own_terms_and_the_others_keep_theirs(documents: Any) -> None:
    chars = {"analyzer": "char", "ngram_range": (3, 3), "select": "chi2", "keep": 9, "weight": 0.3}
    union = Union(parts=[{}, chars])
    features = union.fit_transform(TEXTS)
    rows = union.select(features, TRUTH, documents)
    n_words = union.parts[0].n_features
    assert union.n_features == rows.shape[1] == len(union.terms()) == n_words + 9
    np.testing.assert_allclose(rows.toarray(), union.transform(TEXTS).toarray(), atol=1e-6)
    again = union.selected_rows(features, TRUTH, documents)
    np.testing.assert_allclose(again[:, -9:].toarray(), rows[:, -9:].toarray(), atol=1e-6)


def test_parts_and_weights_that_differ_in_number_are_a_damaged_artifact() -> None:
    union = Union()
    union.fit_transform(TEXTS)
    state = union.state()
    state.settings["weights"] = [1.0]
    with pytest.raises(DamagedArtifactError, match="differ in number"):
        Union.from_state(state)


def test_one_member_learns_all_parts_and_is_scored_by_a_kernel_a_part(
    member: FittedMember,
) -> None:
    own = member.member
    assert isinstance(own.fused.scorer(), JoinedScorer)
    expected = own.learner.scores(own.vectorizer.transform(TEXTS))
    assert np.mean(np.argmax(expected[:60], axis=1) == np.arange(60) % 3) > 0.9
    np.testing.assert_allclose(own.scores(TEXTS, jobs=2), expected, atol=1e-5)
    for row, text in enumerate(TEXTS[-4:], len(TEXTS) - 4):
        np.testing.assert_allclose(own.scores([text])[0], expected[row], atol=1e-5)
    again = Member.from_state(own.state())
    np.testing.assert_array_equal(again.scores(TEXTS), own.scores(TEXTS))


@pytest.mark.parametrize("layout", ["dense", "sparse", "quantized"])
def test_the_weights_of_a_part_are_scaled_in_every_layout(layout: str) -> None:
    union = Union(parts=[{"weight": 2.0}, {"analyzer": "char", "weight": 0.3}])
    rows = union.fit_transform(TEXTS)
    random, shape = np.random.default_rng(0), (union.n_features, 20)
    weights = random.uniform(1, 2, shape) * random.choice([-1, 1], shape)
    if layout != "dense":
        weights *= random.random(shape) < 0.1
    matrix, bias = csr_array(weights.astype(np.float32)), np.ones(20, np.float32)
    learnt = LabelWeights.of(matrix, bias, rounded=layout == "quantized")
    arrays = learnt.linear()
    assert (len(arrays.dense) > 0, arrays.is_quantized) == (
        layout == "dense",
        layout == "quantized",
    )
    scorer = JoinedScorer(union.fitted_parts(), arrays)
    np.testing.assert_allclose(scorer.batch_scores(TEXTS), learnt.scores(rows), atol=1e-4)


def test_labels_are_picked_from_the_sum_of_the_parts(member: FittedMember) -> None:
    scorer, cuts = member.member.fused.scorer(), np.full(3, -0.5, np.float32)
    values = kernels("linear.picking").LabelValues(cuts, NO_CURVES)
    for text in TEXTS[-5:]:
        scores = scorer.scores(text)
        passing, rows = scorer.picked(text, values, 2)
        assert passing == np.sum(scores > cuts)
        best = [label for label in np.argsort(-scores, kind="stable") if scores[label] > -0.5]
        assert [int(row[0]) for row in rows] == best[:2]


def test_a_part_that_no_kernel_can_do_is_scored_by_way_of_rows() -> None:
    union = Union(parts=[{}, {"stemmer": "english", "weight": 0.5}])
    union.fit_transform(TEXTS)
    assert list(union.fitted_parts()) == []


def test_an_explanation_names_the_terms_of_every_part_and_sums_to_the_score(
    member: FittedMember,
) -> None:
    labels = LabelIndex(("grain", "money", "sea"))
    classifier = Classifier(labels, (member.member,), Decision(np.zeros(3, np.float32), "zero"))
    text = "Corn farm, wheat"
    (why,) = explain(classifier, text, [0], 1000)
    names = {reason.name for reason in why.because}
    assert {"wheat", "corn farm", "heat "} <= names
    places = {reason.name: reason.at for reason in why.because}
    assert places["corn farm"] == [(0, 9)]
    total = sum(reason.weight for reason in why.because) + why.bias + why.rest
    assert total == pytest.approx(float(classifier.scores([text])[0, 0]), abs=1e-5)
