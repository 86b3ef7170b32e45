"""Two systems side by side: the tests of significance, and what may be concluded."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from app.errors import InvalidDataError
from app.evaluation import EvaluationOptions, JudgedModel
from app.evaluation.compare.annotators import annotator_agreement
from app.evaluation.compare.comparison import System, compare
from app.metrics.significance.paired_tests import paired_t_test, sign_test
from tests.evaluation.systems import Table, documents_of, made_up

few = EvaluationOptions(bootstrap=100)


def system(scorer: Table, documents: Any, name: str) -> System:
    return System(scorer, JudgedModel(name, "1"), lambda: documents)


def test_sign_and_t_tests_are_scipys() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (int(n) for n in rng.integers(0, 30, 2))
        expected = stats.binomtest(a, a + b).pvalue if a + b else 1.0
        assert sign_test(a, b).p == pytest.approx(expected)
        x, y = rng.random((2, 12))
        theirs = stats.ttest_rel(x, y)
        ours = paired_t_test(x, y)
        assert (ours.t, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert paired_t_test(np.ones(3), np.ones(3)) == (0.0, None, 1.0)


def test_counts_of_the_micro_sign_test_are_those_of_differing_decisions() -> None:
    a, documents = made_up(60, seed=1)
    b, _ = made_up(60, seed=2)
    truth = np.array([[name in d.labels for name in a.names] for d in documents])
    right_a, right_b = ((one.rows > 0) == truth for one in (a, b))
    found = compare(system(a, documents, "a"), system(b, documents, "b"), few)["tests"]
    assert found["micro_sign"]["wins_a"] == (right_a & ~right_b).sum()
    assert found["micro_sign"]["wins_b"] == (right_b & ~right_a).sum()


def test_the_better_system_is_named_and_every_label_is_listed() -> None:
    good, documents = made_up(150, seed=3)
    bad = Table(np.where(good.rows > -np.inf, -good.rows, good.rows), good.names)
    found = compare(system(good, documents, "good"), system(bad, documents, "bad"), few)
    assert found["conclusion"].startswith("A (good@1) is better than B (bad@1) in micro-F1")
    assert [one["label"] for one in found["labels"]] == list(good.names)
    labels = {one["label"]: one["f1"] for one in found["a"]["labels"]}
    assert {one["label"]: one["f1_a"] for one in found["labels"]} == labels
    assert found["tests"]["bootstrap"]["micro.f1"]["interval"][0] > 0


def test_a_system_does_not_beat_itself() -> None:
    scorer, documents = made_up(40)
    one = system(scorer, documents, "same")
    found = compare(one, one, few)
    assert found["tests"]["bootstrap"]["P@1"] == {"interval": [0.0, 0.0], "p": 1.0}
    assert "may well be chance" in found["conclusion"]
    assert "All labels have the same F1." in found["conclusion"]


def test_labels_known_to_one_system_only_count_for_both() -> None:
    documents = documents_of([["a", "b"], ["b"]])
    knows_both = Table(np.float32([[1, 1], [-1, 1]]), ("a", "b"))
    knows_one = Table(np.float32([[1], [-1]]), ("a",))
    first, second = system(knows_both, documents, "two"), system(knows_one, documents, "one")
    found = compare(first, second, few)
    assert [one["difference"] for one in found["labels"]] == [0.0, 1.0]
    assert found["tests"]["micro_sign"]["wins_a"] == 2


def test_annotators_are_matched_by_id_and_their_overlap_is_symmetric() -> None:
    first = documents_of([["a", "b"], ["a"], []])
    second = documents_of([["a"], ["a"], []])[::-1]
    ours, theirs = annotator_agreement(first, second), annotator_agreement(second, first)
    assert ours["matched_by"] == "id"
    assert ours["overlap"] == theirs["overlap"] == pytest.approx(2 / 3)
    assert ours["overlap_documents"] == pytest.approx((0.5 + 1 + 1) / 3)
    assert ours["overlap_labels"] == pytest.approx(0.5)
    assert ours["exact"] == pytest.approx(2 / 3)


def test_annotators_without_ids_are_matched_by_order_or_refused() -> None:
    nameless = [type(d)(d.text, d.labels, None, d.line) for d in documents_of([["a"], ["b"]])]
    assert annotator_agreement(nameless, nameless)["overlap"] == 1.0
    with pytest.raises(InvalidDataError, match="2 and 1 documents"):
        annotator_agreement(nameless, nameless[:1])
