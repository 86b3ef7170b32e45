"""kNN, trees, rules, experts and kernel SVMs against literal versions and scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.decision_tree import DecisionTree
from app.learners.experts import Experts
from app.learners.knn import Knn
from app.learners.rules import Rules
from app.learners.svm_rbf import SvmRbf
from tests.learners.made_up import made_up, marks

WORDS = ["wheat", "export", "gold", "farm"]


def row(*words: str) -> list[bool]:
    return [word in words for word in WORDS]


@pytest.fixture(params=["auto", "plain"], autouse=True)
def with_and_without_a_compiler(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", request.param)


def test_knn_compares_by_cosine_whatever_the_length_of_rows() -> None:
    features, truth = made_up(90, 6)
    longer = csr_array(features.multiply(np.arange(1, 91)[:, None])).astype(np.float32)
    scores = Knn(10).fit(longer, truth).scores(longer * 7)
    np.testing.assert_allclose(scores, Knn(10).fit(features, truth).scores(features), rtol=1e-4)


def test_centred_knn_compares_by_correlation_with_the_mean_of_the_training_documents() -> None:
    pick = np.random.default_rng(0)
    x, y = 5 + pick.random((40, 12)).astype(np.float32), made_up(40, 3)[1]
    queries = 5 + pick.random((9, 12)).astype(np.float32)
    own, other = (rows - x.mean(axis=0) for rows in (x, queries))
    cosines = (other @ own.T) / np.linalg.norm(other, axis=1)[:, None] / np.linalg.norm(own, axis=1)
    best = np.argsort(-cosines, axis=1)[:, :4]
    expected = [cosines[n, near] @ y.toarray()[near] for n, near in enumerate(best)]
    learner = Knn(4, centred=True).fit(csr_array(x), y)
    for one in (learner, Knn.from_state(learner.state())):
        np.testing.assert_allclose(one.scores(csr_array(queries)), expected, atol=1e-3)


def test_centred_knn_refuses_what_would_not_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.learners.knn.MOST_CELLS", 100)
    with pytest.raises(InvalidRequestError, match=r"20 documents and 60 features .* leave it out"):
        Knn(centred=True).fit(*made_up(20, 5))


@pytest.mark.parametrize("k", [1, 4, 45, 500])
def test_knn_sums_the_cosines_of_the_k_nearest(k: int) -> None:
    features, truth = made_up(90, 6)
    queries, _ = made_up(30, 6, seed=1)
    similarity = queries.toarray() @ features.toarray().T
    expected = np.zeros((30, 6))
    for document in range(30):
        nearest = np.argsort(-similarity[document], kind="stable")[:k]
        expected[document] = similarity[document, nearest] @ truth.toarray()[nearest]
    scores = Knn(k).fit(features, truth).scores(queries)
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_neighbours_are_named_by_their_ids_and_sum_to_the_score() -> None:
    features = csr_array(np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32))
    truth = marks(np.array([[True, False], [True, True], [False, True]]))
    learner = Knn(2).fit(features, truth, Fitting(ids=["a", "b", "c"]))
    first, second = learner.evidence(
        np.array([0], np.int32), np.array([1.0], np.float32), [0, 1], ["x", "y"]
    )
    assert (first.kind, first.names, second.names) == ("neighbour", ["a", "b"], ["b"])
    assert first.weights.tolist() == pytest.approx([1.0, 0.6])
    again = Knn.from_state(learner.state())
    assert again.evidence(np.array([1], np.int32), np.ones(1, np.float32), [1], [])[0].names == [
        "c",
        "b",
    ]


def test_neighbours_without_ids_are_named_by_their_place() -> None:
    learner = Knn(1).fit(csr_array(np.eye(2, dtype=np.float32)), marks(np.ones((2, 1), bool)))
    found = learner.evidence(np.array([1], np.int32), np.ones(1, np.float32), [0], [])
    assert found[0].names == ["2"]


def test_a_decision_tree_is_that_of_scikit_learn_on_presence() -> None:
    features, truth = made_up(3000, 4, n_features=12)
    present = (features.toarray() > 0).astype(float)
    learner = DecisionTree(terms=12, max_depth=2, min_documents=5, min_gain=1e-6, smoothing=1e-9)
    leaves = learner.fit(features, truth).leaves(features)
    for label in range(4):
        theirs = DecisionTreeClassifier(
            criterion="entropy", max_depth=2, min_samples_leaf=5, random_state=0
        )
        theirs.fit(present, truth.toarray()[:, label])
        same = theirs.apply(present)[:, None] == theirs.apply(present)
        assert np.array_equal(same, leaves[:, [label]] == leaves[:, label])


def test_the_score_of_a_tree_is_its_leaf_and_its_path_says_how() -> None:
    present = np.array([row("wheat"), row("wheat", "export"), row("gold"), row("farm")] * 10)
    truth = marks(present[:, [0]] & ~present[:, [1]])
    features = csr_array(present.astype(np.float32))
    learner = DecisionTree(terms=4, min_documents=1, min_gain=0.1).fit(features, truth)
    scores = learner.scores(features[:4])[:, 0]
    assert scores[0] > 0 > max(scores[1:])
    (found,) = learner.evidence(np.array([0], np.int32), np.ones(1, np.float32), [0], WORDS)
    assert sorted(found.names[0].split(" & ")) == ["!export", "wheat"]
    paths = learner.label_rules(0, WORDS)
    assert (found.names[0], pytest.approx(scores[0])) in paths
    assert all(any(score == pytest.approx(own) for _, own in paths) for score in scores)
    assert found.weights.sum() + found.bias == pytest.approx(scores[0], abs=1e-6)


def test_rules_find_a_conjunction_and_say_it_in_words() -> None:
    pick = np.random.default_rng(0)
    present = pick.random((600, 4)) < 0.5
    truth = marks(present[:, [0]] & ~present[:, [1]])
    features = csr_array(present.astype(np.float32))
    learner = Rules(terms=4).fit(features, truth)
    scores = learner.scores(features)[:, 0]
    assert scores[truth.toarray()[:, 0]].min() > scores[~truth.toarray()[:, 0]].max()
    (found,) = learner.evidence(np.array([0], np.int32), np.ones(1, np.float32), [0], WORDS)
    assert found.names == ["wheat & !export"]
    assert learner.label_rules(0, WORDS) == [("wheat & !export", pytest.approx(scores.max()))]
    (none,) = learner.evidence(np.array([2], np.int32), np.ones(1, np.float32), [0], WORDS)
    assert (none.names, none.bias) == ([], pytest.approx(scores.min()))


def test_a_rule_counts_where_all_its_literals_hold() -> None:
    features, truth = made_up(200, 3, n_features=15)
    learner = Rules(terms=15, min_precision=0.2).fit(features, truth)
    names = [str(column) for column in range(15)]
    n_rules = len(learner.state().arrays["values"])
    documents, rules = learner.holding(features)
    holding = {(d, r) for d, r in zip(documents.tolist(), rules.tolist(), strict=True)}
    assert n_rules > 0
    for rule in range(n_rules):
        literals = learner.written(rule, names).split(" & ")
        for document, values in enumerate(features.toarray()):
            holds = all(
                (values[int(literal.lstrip("!"))] > 0) != literal.startswith("!")
                for literal in literals
            )
            assert ((document, rule) in holding) == holds


def test_experts_vote_as_their_weights_were_multiplied() -> None:
    features, truth = made_up(60, 3)
    learner = Experts(beta=0.5, passes=2, min_documents=2, prior=0.1)
    scores = learner.fit(features, truth, Fitting(seed=3)).scores(features)
    present, y = features.toarray() > 0, truth.toarray()
    pick = np.random.default_rng(3)
    order = np.concatenate([pick.permutation(60) for _ in range(2)])
    for label in range(3):
        is_expert = present[y[:, label]].sum(axis=0) >= 2
        votes = np.ones((60, 2))
        for document in order:
            awake = present[document] & is_expert
            before = votes[awake].sum()
            votes[awake, 1 - int(y[document, label])] *= 0.5
            if before:
                votes[awake] *= before / votes[awake].sum()
        share = (y[:, label].sum() + 0.5) / 61
        awake = present & is_expert
        against = awake @ votes[:, 0] + 0.1 * (1 - share)
        in_favour = awake @ votes[:, 1] + 0.1 * share
        np.testing.assert_allclose(scores[:, label], np.log(in_favour / against), atol=1e-3)


def test_svm_rbf_scores_as_scikit_learn_decides() -> None:
    pick = np.random.default_rng(0)
    x = pick.normal(size=(120, 5)) * [1, 10, 0.1, 1, 0] + 3
    y = np.stack([(x[:, 0] - 3) ** 2 < 1, x[:, 1] > 5], axis=1)
    learner = SvmRbf(c=3.0, gamma=0.7).fit(csr_array(x.astype(np.float32)), marks(y))
    scores = learner.scores(csr_array(x.astype(np.float32)))
    standard = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    for label in range(2):
        machine = SVC(C=3.0, gamma=0.7 / 4).fit(standard[:, :4], y[:, label])
        theirs = machine.decision_function(standard[:, :4])
        np.testing.assert_allclose(scores[:, label], theirs, atol=5e-3)


def test_svm_rbf_refuses_as_many_features_as_texts_have() -> None:
    features = csr_array((3, 6000), dtype=np.float32)
    with pytest.raises(InvalidRequestError, match="at most 5,000"):
        SvmRbf().fit(features, marks(np.ones((3, 1), bool)))
