"""Folds along an order: each part is scored by a model of the documents before it."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.arrays import truth_from_rows
from app.datasets.base import Summary
from app.datasets.collection import Collection
from app.errors import InvalidRequestError
from app.heldout import HeldOut
from app.learners.base import Fitting
from app.training.ensemble import combine
from app.training.fold_plan import FoldPlan
from app.training.members import FittedMember, TrainingData, built, fit_member
from app.training.recipe import MemberRecipe, Recipe, read_recipe
from app.training.train import TrainingJob, train

TOPICS = (["wheat", "corn", "farm"], ["rate", "bank", "loan"], ["ship", "port", "crew"])
PICK = np.random.default_rng(5)
TEXTS = [
    " ".join([*PICK.choice(TOPICS[i % 3], 3), PICK.choice(TOPICS[PICK.integers(3)]), f"own{i}"])
    + f" year{i // 9} other{i}"
    for i in range(90)
]
TRUTH = truth_from_rows([[i % 3] for i in range(90)], 3)
ORDER = np.random.default_rng(7).permutation(90)


def forward(recipe: MemberRecipe, order: NDArray[np.int64] = ORDER) -> FittedMember:
    return fit_member(
        recipe, TrainingData(TEXTS, TRUTH), plan=FoldPlan(5, order), fitting=Fitting()
    )


def scores(held_out: HeldOut | None) -> NDArray[np.float32]:
    assert held_out is not None
    return np.asarray(held_out.scores)


def known_words(rows: NDArray[Any], before: NDArray[Any]) -> list[str]:
    """The texts of `rows` with only the words that the texts before them have."""
    known = {word for i in before for word in TEXTS[i].split()}
    return [" ".join(word for word in TEXTS[i].split() if word in known) for i in rows]


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("one-vs-rest", {"solver": "block", "options": "-s 1 -e 1e-3"}),
        ("one-vs-rest", {"solver": "block", "options": "-s 7 -e 1e-3"}),
        ("one-vs-rest", {"solver": "liblinear"}),
        ("binary-and-multiclass", {}),
        ("tree", {"n_trees": 1, "link": "squared-hinge", "options": "-s 1 -c 1 -B 1 -e 0.001"}),
    ],
)
def test_forward_scores_are_those_of_models_trained_on_the_documents_before(
    learner: str, settings: dict[str, Any]
) -> None:
    recipe = MemberRecipe(learner, settings, {})
    fitted = forward(recipe)
    assert fitted.rows.tolist() == sorted(ORDER[18:].tolist())
    vectorizer = fitted.member.vectorizer
    features = vectorizer.transform(TEXTS)
    for start in range(18, 90, 18):
        before, part = ORDER[:start], np.sort(ORDER[start : start + 18])
        apart = built(recipe)[1].fit(features[np.sort(before)], TRUTH[np.sort(before)], Fitting())
        expected = apart.scores(vectorizer.transform(known_words(part, before)))
        found = scores(fitted.held_out)[np.searchsorted(fitted.rows, part)]
        np.testing.assert_allclose(found, expected, atol=0.01)


def test_cost_sensitive_scores_go_forward_with_the_costs_that_were_found() -> None:
    fitted = forward(MemberRecipe("cost-sensitive"))
    assert scores(fitted.held_out).shape == (72, 3)
    assert np.isfinite(scores(fitted.held_out)).all()


@pytest.mark.parametrize("solver", ["block", "liblinear"])
def test_a_label_without_a_document_before_a_part_has_its_constant_score_there(
    solver: str,
) -> None:
    by_label = np.argsort(np.arange(90) % 3, kind="stable")
    fitted = forward(MemberRecipe("one-vs-rest", {"solver": solver}), by_label)
    found = scores(fitted.held_out)[np.searchsorted(fitted.rows, np.sort(by_label[18:36]))]
    assert (found[:, 1:] == -1).all()
    assert (found[:, 0] == 1).all()


def test_members_of_an_ensemble_are_weighted_on_the_documents_that_all_were_kept_from() -> None:
    one, other = forward(MemberRecipe("one-vs-rest")), forward(MemberRecipe("tree"))
    part = np.sort(ORDER[80:])
    other = FittedMember(other.member, HeldOut.of(np.zeros((10, 3)), TRUTH[part]), part)
    _, held_out = combine([one, other])
    assert (held_out.truth != TRUTH[part]).nnz == 0


def collection(ranks: NDArray[np.int64] | None = None) -> Collection:
    labels = [("abc"[i % 3],) for i in range(90)]
    return Collection(TEXTS, labels, [None] * 90, Summary(), ranks=ranks)


def recipe(**decision: Any) -> Recipe:
    return read_recipe(None).with_decision(**decision)


def test_a_column_puts_documents_in_its_order_and_ties_stay_as_in_the_file() -> None:
    ranks = np.arange(90)[::-1] // 10
    by_column = train(TrainingJob(collection(ranks), recipe(folds_by="day"))).info.figures
    order = np.argsort(ranks, kind="stable")
    moved = Collection(
        [TEXTS[i] for i in order],
        [collection().label_sets[i] for i in order],
        [None] * 90,
        Summary(),
    )
    by_order = train(TrainingJob(moved, recipe(folds_by="order"))).info.figures
    assert (by_column["held_out_by"], by_column["held_out_documents"]) == ("day", 72)
    assert by_column["held_out"] == pytest.approx(by_order["held_out"], abs=0.02)


def test_figures_say_how_documents_were_held_out() -> None:
    by_chance = train(TrainingJob(collection(), recipe())).info.figures
    assert (by_chance["held_out_by"], by_chance["held_out_documents"]) == ("random", 90)
    valid = train(TrainingJob(collection(), recipe(), valid=collection())).info.figures
    assert (valid["held_out_by"], valid["held_out_documents"]) == ("validation", 90)
    halves = train(TrainingJob(collection(), recipe(folds_by="order", folds=2)))
    assert halves.info.figures["held_out_documents"] == 45
    assert halves.classifier.hulls is not None
    assert halves.classifier.hulls.n_documents == 45
    assert halves.classifier.expectations is not None


@pytest.mark.parametrize(
    ("decision", "has_valid", "says"),
    [
        ({"folds_by": "order", "folds": 0}, False, "--folds 2 or more"),
        ({"folds_by": "order", "folds": 1}, False, "--folds 2 or more"),
        ({"folds_by": "order"}, True, "not --valid"),
        ({"folds_by": "day"}, False, "read without that column"),
    ],
)
def test_an_order_that_nothing_can_follow_is_refused(
    decision: dict[str, Any], has_valid: bool, says: str
) -> None:
    valid = collection() if has_valid else None
    with pytest.raises(InvalidRequestError, match=says):
        train(TrainingJob(collection(), recipe(**decision), valid=valid))


def test_a_recipe_may_name_the_order() -> None:
    assert Recipe.from_tables({"decision": {"folds_by": "day"}}).decision.order_column == "day"
    assert Recipe.from_tables({"decision": {"folds_by": "order"}}).decision.order_column == ""
