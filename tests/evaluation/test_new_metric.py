"""One catalogue line brings a metric into the suite, the report, its intervals, tables and page."""

import json
import re
from typing import Any

import numpy as np
import pytest

from app import metrics
from app.evaluation import EvaluationOptions, Report, evaluate
from app.evaluation.report.page import page
from app.evaluation.report.tables import label_rows, single_figures, tables
from app.metrics.suite import suite
from tests.evaluation.systems import Table, info, made_up

OPTIONS = EvaluationOptions(k=(1, 2), bootstrap=20)
AVERAGES = ("micro", "macro", "macro_in_test", "weighted", "samples")


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {
        "RANKING_METRICS": {"F1@K": "F1_AT_K", "perfect_ranking": "PERFECT_RANKING"},
        "MEASURES": {"specificity": "SPECIFICITY"},
        "DECISION_METRICS": {"labels_found": "LABELS_FOUND", "no_wrong_label": "NO_WRONG_LABEL"},
        "LABEL_METRICS": {"precision_of_first": "PRECISION_OF_FIRST"},
    }
    for family, entries in lines.items():
        for name, thing in entries.items():
            monkeypatch.setitem(getattr(metrics, family), name, f"tests.metrics.made_up:{thing}")


@pytest.fixture
def system() -> tuple[Table, Any]:
    return made_up(60)


@pytest.fixture
def report(catalogue: None, system: tuple[Table, Any]) -> Report:
    return evaluate(*system, OPTIONS, info=info())


def arrays(system: tuple[Table, Any]) -> tuple[Any, Any, Any]:
    scorer, documents = system
    truth = scorer.labels.truth([document.labels for document in documents])
    return scorer.rows, truth, scorer.rows > 0


def f1_at_2(system: tuple[Table, Any]) -> float:
    scores, truth, _ = arrays(system)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    hits = np.take_along_axis(truth.toarray(), best, axis=1).sum(axis=1)
    return float(np.mean(2 * hits / (2 + np.diff(truth.indptr))))


def micro_specificity(system: tuple[Table, Any]) -> float:
    _, truth, marks = arrays(system)
    negative = ~truth.toarray()
    return float((negative & ~marks).sum() / negative.sum())


@pytest.mark.usefixtures("catalogue")
def test_the_suite_has_it(system: tuple[Table, Any]) -> None:
    found = suite(*arrays(system), ks=(1, 2))
    assert found["ranking"]["F1@2"] == pytest.approx(f1_at_2(system))
    assert found["decisions"]["micro"]["specificity"] == pytest.approx(micro_specificity(system))
    assert len(found["precision_of_first"]) == 6


def test_the_report_has_it_in_every_place_of_its_family(
    report: Report, system: tuple[Table, Any]
) -> None:
    found = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert found["ranking"]["F1@2"] == pytest.approx(f1_at_2(system))
    assert 0 < found["ranking"]["perfect_ranking"] < 1
    decisions = found["decisions"]
    assert decisions["micro"]["specificity"] == pytest.approx(micro_specificity(system))
    assert all(0 < decisions[average]["specificity"] <= 1 for average in AVERAGES)
    assert decisions["labels_skipped"]["specificity"] == 0
    assert decisions["labels_found"] == 1.0
    assert 0 < decisions["no_wrong_label"] < 1
    for label in found["labels"]:
        assert label["specificity"] == pytest.approx(label["tn"] / (label["tn"] + label["fp"]))
        assert 0 < label["precision_of_first"] <= 1
    for groups in found["partitions"].values():
        for group in groups:
            assert "F1@1" in group["ranking"]
            assert "specificity" in group["decisions"]["macro"]


def test_what_is_a_mean_has_intervals(report: Report) -> None:
    found = report.as_dict()
    for name in ("F1@1", "F1@2", "perfect_ranking"):
        low, high = found["confidence"][name]
        assert low <= found["ranking"][name] <= high
    for average in ("micro", "macro", "macro_in_test", "samples"):
        low, high = found["confidence"][f"{average}.specificity"]
        assert low < found["decisions"][average]["specificity"] < high
    low, high = found["confidence"]["no_wrong_label"]
    assert low < found["decisions"]["no_wrong_label"] < high


def test_the_terminal_tables_show_it(report: Report) -> None:
    found = report.as_dict()
    decisions, ranking, *_, intervals = tables(found)
    assert decisions.rows[0][decisions.columns.index("spec.")] == (
        f"{found['decisions']['micro']['specificity']:.4f}"
    )
    assert ranking.rows[1][ranking.columns.index("F1@K")] == f"{found['ranking']['F1@2']:.4f}"
    assert {"F1@2", "macro.specificity"} <= {row[0] for row in intervals.rows}
    alone = dict(single_figures(found))
    assert alone["perfect ranking"] == f"{found['ranking']['perfect_ranking']:.4f}"
    assert alone["labels found"] == "1.0000"
    assert "specificity" in label_rows(found, 3).columns


def test_the_page_shows_it(report: Report) -> None:
    html = page(report)
    found = report.as_dict()
    heads = re.findall(r"<th[^>]*>(?:<button[^>]*>)?([^<]*)", html)
    assert {"F1@K", "spec.", "first"} <= set(heads)
    assert f"<span>F1@2</span><b>{found['ranking']['F1@2']:.4f}</b>" in html
    assert "<dt>labels found</dt><dd>1.0000</dd>" in html
    data = json.loads(re.findall(r"application/json'>(.*?)</script>", html, re.DOTALL)[0])
    assert {"specificity", "precision_of_first"} <= set(data["columns"])


def test_beyond_the_bound_a_label_metric_has_an_error_bound_like_the_others(
    catalogue: None, system: tuple[Table, Any]
) -> None:
    exact = evaluate(*system, info=info()).as_dict()
    rough = evaluate(*system, EvaluationOptions(max_scores=1), info=info()).as_dict()
    assert not rough["conventions"]["exact_curves"]
    for one, other in zip(exact["labels"], rough["labels"], strict=True):
        assert other["precision_of_first"] == pytest.approx(one["precision_of_first"])
    said = next(w for w in rough["warnings"] if w.startswith("too many scores"))
    assert "average precision is right to ±" in said
    assert "precision of first is right to ±" in said


def test_without_the_line_nothing_of_it_is_there(system: tuple[Table, Any]) -> None:
    text = json.dumps(evaluate(*system, OPTIONS, info=info()).as_dict())
    assert "F1@" not in text
    assert "specificity" not in text
