"""The report against literal definitions, and what must not change it."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.datasets.base import Record
from app.errors import InvalidDataError, InvalidRequestError
from app.evaluation import EvaluationOptions, JudgedModel, chunks, evaluate
from app.metrics.suite import suite
from tests.evaluation.systems import Table, documents_of, info, judged, made_up
from tests.metrics import literal

few = settings(max_examples=25, deadline=None)


def relevant_sets(system: Table, documents: list[Record]) -> list[set[int]]:
    extra = sorted({label for d in documents for label in d.labels} - set(system.names))
    column = {name: i for i, name in enumerate([*system.names, *extra])}
    return [{column[label] for label in document.labels} for document in documents]


def without_seconds(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key != "seconds"}


@few
@given(st.integers(0, 10_000), st.booleans())
def test_every_ranking_figure_is_as_defined(seed: int, include: bool) -> None:
    system, documents = made_up(20, seed=seed)
    documents[3] = Record("3", ("label-1", "new-b"), "x", 4)
    documents[4] = Record("4", ("new-a", "new-b"), "y", 5)
    ranking = judged(system, documents, k=(2, 9), include_test_labels=include)["ranking"]
    relevant = relevant_sets(system, documents)
    if not include:
        relevant = [{c for c in row if c < len(system.names)} for row in relevant]
    pairs = list(zip(system.rows, relevant, strict=True))
    for k in (2, 9):
        found = [literal.at_k(*pair, k) for pair in pairs]
        for name in ("P", "R", "RP", "NDCG"):
            expected = np.mean([one[name] for one in found])
            assert ranking[f"{name}@{k}"] == pytest.approx(expected, abs=1e-12)
        known = info(len(system.names))
        counts = known.training_counts.tolist() if known.training_counts is not None else []
        psp, psndcg = literal.propensity_scored(system.rows, relevant, counts, 1000, k)
        assert ranking[f"PSP@{k}"] == pytest.approx(psp, abs=1e-12)
        assert ranking[f"PSnDCG@{k}"] == pytest.approx(psndcg, abs=1e-12)
    points = np.mean([literal.eleven_points(*pair) for pair in pairs], axis=0)
    assert ranking["eleven_points"] == pytest.approx(points.tolist(), abs=1e-12)
    assert ranking["mrr"] == pytest.approx(np.mean([literal.reciprocal_rank(*p) for p in pairs]))
    first = np.mean([literal.at_k(*pair, 1)["P"] for pair in pairs])
    assert ranking["one_error"] == pytest.approx(1 - first)


@few
@given(st.integers(0, 10_000))
def test_break_even_and_the_best_point_of_the_curve_are_as_defined(seed: int) -> None:
    system, documents = made_up(12, 3, seed=seed)
    system.rows[system.rows == -np.inf] = -9
    truth = np.zeros(system.rows.shape, bool)
    for row, columns in enumerate(relevant_sets(system, documents)):
        truth[row, list(columns)] = True
    report = judged(system, documents)
    if not truth.any():
        return
    point = report["decisions"]["break_even"]
    value, gap = literal.break_even(system.rows, truth)
    assert (point["value"], point["gap"]) == pytest.approx((value, gap))
    per_label = report["decisions"]["break_even_per_label"]
    value, gap = literal.break_even_per_label(system.rows, truth)
    assert (per_label["value"], per_label["gap"]) == pytest.approx((value, gap))
    at_one = [p for p in report["curves"]["micro"] if p["beta"] == pytest.approx(1.0)]
    best = literal.best_micro_f(system.rows, truth)
    reached = [
        2 * p["precision"] * p["recall"] / (p["precision"] + p["recall"]) for p in at_one
    ] or [best]  # the point at β = 1 may be dominated by a neighbour of equal value
    assert reached[0] == pytest.approx(best)


def test_figures_do_not_depend_on_how_documents_fall_into_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system, documents = made_up(50)
    whole = judged(system, documents, bootstrap=20)
    monkeypatch.setattr(chunks, "DOCUMENTS", 7)
    pieces = judged(system, documents, bootstrap=20)
    assert flat(without_seconds(pieces)) == pytest.approx(flat(without_seconds(whole)), abs=1e-12)


def test_a_file_repeated_gives_the_same_means() -> None:
    system, documents = made_up(30)
    once, thrice = judged(system, documents), judged(system, documents * 3)
    assert flat(thrice["ranking"]) == pytest.approx(flat(once["ranking"]), abs=1e-9)
    for average in ("micro", "macro", "macro_in_test", "weighted", "samples"):
        expected = flat(once["decisions"][average])
        assert flat(thrice["decisions"][average]) == pytest.approx(expected, abs=1e-9)
    assert flat(thrice["curves"]) == pytest.approx(flat(once["curves"]), abs=1e-9)


def test_zero_shot_labels_are_counted_only_if_asked_for() -> None:
    system = Table(np.float32([[1.0, -1.0], [1.0, 1.0]]), ("a", "b"))
    documents = documents_of([["a", "zebra"], ["b", "new"]])
    dropped = judged(system, documents)
    kept = judged(system, documents, include_test_labels=True)
    assert dropped["data"]["zero_shot_labels"] == kept["data"]["zero_shot_labels"] == 2
    assert dropped["data"]["pairs"] == kept["data"]["pairs"] == 2
    assert dropped["data"]["zero_shot_pairs"] == 2
    assert [one["label"] for one in dropped["labels"]] == ["a", "b"]
    assert [one["label"] for one in kept["labels"]] == ["a", "b", "new", "zebra"]
    assert [one["fn"] for one in kept["labels"]] == [0, 0, 1, 1]
    assert [one["training_documents"] for one in kept["labels"]] == [0, 2, 0, 0]
    assert [one["average_precision"] for one in kept["labels"]][2:] == [0.0, 0.0]
    assert dropped["decisions"]["micro"]["recall"] == 1.0
    assert kept["decisions"]["micro"]["recall"] == 0.5
    assert kept["decisions"]["macro"]["f1"] < dropped["decisions"]["macro"]["f1"]
    assert kept["ranking"]["P@1"] == dropped["ranking"]["P@1"]
    assert kept["conventions"]["labels"] == "trained and test"


def test_a_document_with_zero_shot_labels_only_is_not_unlabelled() -> None:
    system = Table(np.float32([[1.0], [1.0]]), ("a",))
    report = judged(system, documents_of([["new"], ["a"]]), unlabelled="drop")
    assert report["data"]["documents"] == 2
    assert report["data"]["unlabelled"] == 0
    assert report["decisions"]["micro"]["precision"] == 0.5


def test_unlabelled_documents_are_kept_or_dropped_and_always_counted() -> None:
    system = Table(np.float32([[1.0], [1.0]]), ("a",))
    kept = judged(system, documents_of([["a"], []]))
    dropped = judged(system, documents_of([["a"], []]), unlabelled="drop")
    assert (kept["data"]["documents"], dropped["data"]["documents"]) == (2, 1)
    assert kept["data"]["unlabelled"] == dropped["data"]["unlabelled"] == 1
    assert kept["decisions"]["micro"]["precision"] == 0.5
    assert dropped["decisions"]["micro"]["precision"] == 1.0
    assert any("no label" in warning for warning in kept["warnings"])


def test_the_share_of_unlabelled_documents_is_of_all_that_were_read() -> None:
    system = Table(np.ones((60, 1), np.float32), ("a",))
    documents = documents_of([["a"]] * 10 + [[]] * 50)
    reports = [judged(system, documents, unlabelled=how) for how in ("keep", "drop")]
    kept, dropped = (
        [one for one in report["warnings"] if "(83%) have no label" in one] for report in reports
    )
    assert (len(kept), len(dropped)) == (1, 1)
    assert "consider unlabelled=drop" in kept[0]
    assert "were left out" in dropped[0]
    assert "unlabelled=drop" not in dropped[0]


@pytest.mark.parametrize("labels", [[], ["unknown"]])
@pytest.mark.parametrize("zero_division", ["0", "1", "skip"])
@pytest.mark.parametrize("include", [False, True])
def test_a_file_without_any_known_label_gets_an_answer_without_nan(
    labels: list[str], zero_division: Any, include: bool
) -> None:
    system = Table(np.float32([[1.0, -np.inf], [-1.0, -np.inf]]), ("a", "b"))
    report = judged(
        system,
        documents_of([labels, labels]),
        zero_division=zero_division,
        include_test_labels=include,
        bootstrap=5,
    )
    json.dumps(report, allow_nan=False)
    assert any("no document has a label" in warning for warning in report["warnings"])


def test_a_file_without_documents_is_refused() -> None:
    with pytest.raises(InvalidDataError, match="no documents"):
        judged(Table(np.zeros((0, 1), np.float32), ("a",)), [])


def test_infinite_cuts_are_null() -> None:
    system, documents = made_up()
    system.decision = type(system.decision)(np.full(6, np.inf, np.float32), "micro-f")
    report = judged(system, documents)
    assert {one["threshold"] for one in report["labels"]} == {None}
    assert report["decisions"]["micro"]["f1"] == 0.0


def test_one_label_documents_get_accuracy_and_a_confusion_matrix() -> None:
    system = Table(np.float32([[2, 1], [1, 2], [3, 0]]), ("a", "b"))
    report = judged(system, documents_of([["a"], ["a"], ["a"]]))
    assert report["confusion"]["accuracy"] == pytest.approx(2 / 3)
    assert report["confusion"]["matrix"] == [[2, 1], [0, 0]]
    assert report["confusion"]["most_confused"][0]["taken_for"] == "b"
    assert judged(system, documents_of([["a"], ["a", "b"], ["a"]]))["confusion"] is None


def test_a_document_without_any_score_has_no_best_label() -> None:
    system = Table(np.float32([[-np.inf, -np.inf], [1, 2]]), ("a", "b"))
    report = judged(system, documents_of([["a"], ["b"]]))
    assert report["confusion"]["accuracy"] == 0.5
    assert report["confusion"]["matrix"] == [[0, 0], [0, 1]]


def test_a_missed_label_is_confused_with_the_one_wrongly_assigned_instead() -> None:
    system = Table(np.float32([[1, -1, 1], [1, -1, -1]]), ("a", "b", "c"))
    report = judged(system, documents_of([["b", "c"], ["b"]]))
    assert report["most_confused"] == [{"label": "b", "taken_for": "a", "documents": 2}]


def test_curves_run_from_precision_1_to_recall_1_through_what_cuts_reach() -> None:
    system = Table(np.float32([[4], [3], [2], [1]]), ("a",))
    report = judged(system, documents_of([["a"], [], ["a"], []]))
    points = [(one["precision"], one["recall"]) for one in report["curves"]["micro"]]
    assert points == [(1.0, 0.0), (1.0, 0.5), (pytest.approx(2 / 3), 1.0), (0.0, 1.0)]


def test_skipping_0_by_0_says_how_many_labels_were_left_out() -> None:
    system = Table(np.float32([[1.0, -1.0, -1.0]]), ("a", "b", "c"))
    decisions = judged(system, documents_of([["a"]]), zero_division="skip")["decisions"]
    assert decisions["macro"]["f1"] == 1.0
    assert decisions["labels_skipped"] == {"precision": 2, "recall": 2, "f1": 2}


def test_warnings_name_rare_labels_and_the_trivial_rejector() -> None:
    report = judged(*made_up(40))
    assert any("macro-F1 rests on" in warning for warning in report["warnings"])
    assert any(
        f"{report['decisions']['rejector_accuracy']:.4f}" in warning
        for warning in report["warnings"]
    )


def test_documents_that_were_trained_on_are_counted() -> None:
    from app.datasets.fingerprint import fingerprints

    system, documents = made_up(10)
    known = JudgedModel("m", "1", fingerprints=np.unique(fingerprints(["3", "5", "other"])))
    report = evaluate(system, documents, info=known).as_dict()
    assert report["data"]["seen_in_training"] == 2
    assert "training data" in report["warnings"][0]
    unchecked = evaluate(system, documents, EvaluationOptions(check_seen=False), info=known)
    assert unchecked.as_dict()["data"]["seen_in_training"] == 0


@pytest.mark.parametrize(
    "wrong",
    [{"k": (0,)}, {"k": ()}, {"beta": math.nan}, {"zero_division": "2"}, {"unlabelled": "?"}],
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        EvaluationOptions(**wrong)


@pytest.mark.parametrize("name", ["rank:0", "rank:x", "proportion:0", "best", "precision>=2"])
def test_decisions_that_do_not_exist_are_refused(name: str) -> None:
    system, documents = made_up(5)
    with pytest.raises(InvalidRequestError):
        judged(system, documents, decision=name)


def flat(value: Any) -> list[float]:
    """All numbers of a nested structure, in order."""
    if isinstance(value, dict):
        return [number for key in value for number in flat(value[key])]
    if isinstance(value, list):
        return [number for item in value for number in flat(item)]
    return [value] if isinstance(value, int | float) else []


def test_the_suite_in_memory_gives_the_figures_of_the_report() -> None:
    system, documents = made_up(90)
    report = evaluate(system, documents).as_dict()
    truth = system.labels.truth([d.labels for d in documents])
    found = suite(system.rows, truth, system.rows > 0)
    assert flat(found["ranking"]) == pytest.approx(flat(report["ranking"]), abs=1e-12)
    for name, value in found["decisions"].items():
        assert flat(value) == pytest.approx(flat(report["decisions"][name]), abs=1e-12), name
    expected = [one["average_precision"] for one in report["labels"]]
    assert found["average_precision"] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_decisions_of_the_report_are_scikit_learns(seed: int) -> None:
    import sklearn.metrics as sk

    system, documents = made_up(50, seed=seed)
    truth = system.labels.truth([d.labels for d in documents]).toarray()
    marks = system.rows > 0
    decisions = judged(system, documents, beta=2.0)["decisions"]
    for average in ("micro", "macro", "weighted", "samples"):
        options: dict[str, Any] = {"average": average, "zero_division": 0}
        p, r, f, _ = sk.precision_recall_fscore_support(truth, marks, beta=2.0, **options)
        figures = decisions[average]
        assert (figures["precision"], figures["recall"], figures["fbeta"]) == pytest.approx(
            (p, r, f), abs=1e-12
        )
        overlap = sk.jaccard_score(truth, marks, **options)
        assert figures["overlap"] == pytest.approx(overlap, abs=1e-12)
        assert figures["f1"] == pytest.approx(sk.f1_score(truth, marks, **options), abs=1e-12)
    assert decisions["subset_accuracy"] == pytest.approx(sk.accuracy_score(truth, marks))
    assert decisions["micro"]["error"] == pytest.approx(sk.hamming_loss(truth, marks))
    assert decisions["rejector_accuracy"] == pytest.approx(1 - truth.mean())
