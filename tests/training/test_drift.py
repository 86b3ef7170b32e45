"""A training on random folds warns where the end of the data is unlike the rest, and else not."""

from typing import Any, cast

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from app.arrays import truth_from_rows
from app.datasets.base import Summary
from app.datasets.collection import Collection, subset
from app.decisions.decision import Decision
from app.folds import forward_folds
from app.heldout import HeldOut
from app.learners.base import Fitting
from app.learners.one_vs_rest import OneVsRest
from app.training.drift import ForwardScores, alikeness, drift_check, random_scores
from app.training.fold_plan import FoldPlan
from app.training.members import TrainingData, fit_member
from app.training.recipe import MemberRecipe, read_recipe
from app.training.train import TrainingJob, train

N, LABELS = 1200, "abcd"
RECIPE = read_recipe(None, changes=["decision.resamples=2"])


def corpus(*, drifts: bool, seed: int = 0, most_labels: int = 2) -> Collection:
    """Labels with ten words each, and words of others; where they drift, half of them get new words
    at the end."""
    pick = np.random.default_rng(seed)
    texts, label_sets = [], []
    for i in range(N):
        labels = tuple(
            sorted(pick.choice(list(LABELS), pick.integers(1, most_labels + 1), replace=False))
        )
        era = "new" if drifts and i >= 0.8 * N else "old"
        words = [
            f"{era if x in 'ab' else ''}{x}{pick.integers(10)}"
            for x in (*labels, *labels, pick.choice([*LABELS]))
        ]
        texts.append(" ".join([*words, *(f"noise{n}" for n in pick.integers(0, 300, 6))]))
        label_sets.append(labels)
    return Collection(texts, label_sets, [None] * N, Summary())


def checked(collection: Collection, *changes: str, learner: str | None = None) -> dict[str, Any]:
    recipe = read_recipe(None, learner=learner, changes=["decision.resamples=2", *changes])
    figures = train(TrainingJob(collection, recipe)).info.figures
    found: dict[str, Any] = figures.get("drift", {})
    return found


@pytest.mark.parametrize("learner", ["one-vs-rest", "cost-sensitive"])
def test_words_that_change_along_the_file_are_warned_of_with_both_figures(learner: str) -> None:
    found = checked(corpus(drifts=True), learner=learner)
    assert found["forward_micro_f1"] < found["random_micro_f1"] - 0.1
    assert f"{found['forward_micro_f1']:.3f} by a model" in found["warning"]
    assert f"{found['random_micro_f1']:.3f} by random folds" in found["warning"]
    assert "--folds-by order" in found["warning"]
    assert "shuffle" in found["warning"]
    assert (found["documents"], found["labels"]) == (240, 4)


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_documents_give_no_alarm_whether_their_words_change_or_not(seed: int) -> None:
    drifting = corpus(drifts=True)
    shuffled = subset(drifting, np.random.default_rng(seed).permutation(N))
    assert "warning" not in checked(shuffled)
    found = checked(corpus(drifts=False, seed=seed))
    assert "warning" not in found
    assert found["random_micro_f1"] > 0.5


def test_documents_sorted_by_label_are_said_to_be_sorted_not_drifted() -> None:
    documents = corpus(drifts=False, most_labels=1)
    by_label = sorted(range(N), key=lambda i: documents.label_sets[i])
    found = checked(subset(documents, by_label))
    assert found["neighbours_alike"] > 0.9
    assert "look sorted" in found["warning"]
    assert "--folds-by order" not in found["warning"]


@pytest.mark.parametrize(
    ("n_documents", "changes", "learner"),
    [
        (N, ["decision.folds=0", "decision.name=zero"], None),
        (N, ["decision.name=rank:2"], None),
        (N, [], "tree"),
        (N, [], "ensemble:one-vs-rest,cost-sensitive-micro"),
        (999, [], None),
    ],
)
def test_nothing_is_compared_where_it_could_not_be_told(
    n_documents: int, changes: list[str], learner: str | None
) -> None:
    few = subset(corpus(drifts=True), range(n_documents))
    assert checked(few, *changes, learner=learner) == {}


def test_forward_scores_are_those_of_a_model_trained_on_the_first_four_fifths() -> None:
    documents, truth = corpus(drifts=True).documents, truth_of(corpus(drifts=True))
    fitted = fit_member(
        MemberRecipe("one-vs-rest", {}, {}),
        TrainingData(documents, truth),
        plan=FoldPlan(checks_drift=True),
        fitting=Fitting(),
    )
    assert fitted.last is not None
    assert fitted.last.documents.tolist() == list(range(960, N))
    known = {word for text in documents[:960] for word in text.split()}
    texts = [" ".join(w for w in text.split() if w in known) for text in documents[960:]]
    vectorizer = fitted.member.vectorizer
    apart = OneVsRest().fit(vectorizer.transform(documents[:960]), truth[:960])
    expected = apart.scores(vectorizer.transform(texts))[:, fitted.last.labels]
    np.testing.assert_allclose(fitted.last.scores, expected, atol=0.01)


def truth_of(collection: Collection) -> Any:
    return truth_from_rows([[*map(LABELS.index, names)] for names in collection.label_sets], 4)


def test_only_the_most_frequent_labels_are_compared() -> None:
    rows = [[i % 40] if i < 1160 else [i % 32] for i in range(N)]
    fitted = fit_member(
        MemberRecipe("one-vs-rest", {}, {}),
        TrainingData(corpus(drifts=False).documents, truth_from_rows(rows, 40)),
        plan=FoldPlan(2, checks_drift=True),
        fitting=Fitting(),
    )
    assert fitted.last is not None
    assert fitted.last.labels.tolist() == list(range(32))


def test_the_standard_error_is_that_of_resampled_documents() -> None:
    pick = np.random.default_rng(0)
    truth = pick.random((800, 5)) < 0.3
    scores, others = (truth + pick.normal(0, s, truth.shape).astype("f4") for s in (0.5, 0.7))
    rows, labels = np.arange(800, dtype=np.int32), np.arange(5)
    decision = Decision(np.full(5, 0.5, np.float32), "micro-f")
    check = drift_check(
        ForwardScores(rows, labels, others), HeldOut.of(scores, csc_array(truth)), decision
    )
    assert check is not None
    differences = []
    for _ in range(2000):
        drawn = pick.integers(0, 800, 800)
        values = [micro_f1(x[drawn] > 0.5, truth[drawn]) for x in (scores, others)]
        differences.append(values[0] - values[1])
    assert check.random == pytest.approx(micro_f1(scores > 0.5, truth))
    assert check.forward == pytest.approx(micro_f1(others > 0.5, truth))
    assert check.standard_error == pytest.approx(np.std(differences), rel=0.08)


def micro_f1(marks: Any, truth: Any) -> float:
    return float(2 * (marks & truth).sum() / (marks.sum() + truth.sum()))


def test_sparse_held_out_scores_are_compared_as_dense_ones_are() -> None:
    pick = np.random.default_rng(1)
    truth, scores = pick.random((50, 4)) < 0.4, pick.random((50, 4)).astype(np.float32) + 1
    rows, labels = np.arange(30, 50, dtype=np.int32), np.array([0, 3])
    dense = HeldOut.of(scores, csc_array(truth))
    sparse = HeldOut.of(csc_array(np.where(scores > 1.5, scores, 0)), csc_array(truth))
    block = np.where(scores > 1.5, scores, -np.inf)[np.ix_(rows, labels)]
    np.testing.assert_array_equal(sparse.block(rows, labels), block)
    forward = ForwardScores(rows, labels, scores[np.ix_(rows, labels)])
    decision = Decision(np.full(4, 1.6, np.float32), "micro-f")
    assert drift_check(forward, sparse, decision) == drift_check(forward, dense, decision)


def test_neighbours_are_alike_in_a_sorted_file_and_not_in_a_shuffled_one() -> None:
    rows = [[i // 100] if i % 7 else [] for i in range(1000)]
    assert alikeness(truth_from_rows(rows, 10)) > 0.98
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(1000)]
    assert abs(alikeness(truth_from_rows(shuffled, 10))) < 0.1
    assert alikeness(truth_from_rows([[0], [0], []], 1)) == 0
    assert alikeness(truth_from_rows([[0], []], 1)) == 0


def test_folds_by_order_say_both_figures_where_documents_change_and_nothing_where_they_do_not() -> (
    None
):
    by_order = "decision.folds_by=order"
    found = checked(corpus(drifts=True), by_order)
    beside = checked(corpus(drifts=True))
    assert found["documents"] == 240
    assert "warning" not in found
    assert found["random_micro_f1"] == pytest.approx(beside["random_micro_f1"], abs=0.06)
    assert found["forward_micro_f1"] == pytest.approx(beside["forward_micro_f1"], abs=0.06)
    assert f"{found['forward_micro_f1']:.3f} by a model of the documents before" in found["note"]
    assert f"{found['random_micro_f1']:.3f} by models of as many" in found["note"]
    assert "note" not in checked(corpus(drifts=False), by_order)


class Watched:
    """Keeps which documents it was fitted to and asked for: each document is a column."""

    def __init__(self, seen: list[tuple[set[int], set[int]]]) -> None:
        self.seen = seen

    def for_labels(self, labels: Any) -> "Watched":
        return Watched(self.seen)

    def fit(self, features: Any, truth: Any, fitting: Any) -> None:
        self.known = set(features.indices.tolist())
        assert features.shape[0] == truth.shape[0] == len(self.known)

    def scores(self, features: Any, *, jobs: int) -> Any:
        self.seen.append((self.known, set(features.indices.tolist())))
        return np.repeat(features.indices[:, None].astype(np.float32), 4, axis=1)


def test_models_at_random_know_as_many_documents_and_none_that_they_score() -> None:
    seen: list[tuple[set[int], set[int]]] = []
    truth, columns = truth_of(corpus(drifts=False)), csr_array(np.eye(N, dtype=np.float32))
    folds = forward_folds(np.arange(N), 5)
    found = random_scores(cast(Any, Watched(seen)), columns, truth, folds, Fitting())
    assert found is not None
    assert found.documents.tolist() == list(range(960, N))
    assert found.scores[:, 2].tolist() == found.documents.tolist()
    for known, scored in seen:
        assert len(known) == 960
        assert len(scored) == 120
        assert not known & scored
        assert any(document >= 960 for document in known)
