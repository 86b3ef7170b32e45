"""Beyond the bound: figures without all scores stay within the error that the report states."""

import re

import numpy as np
import pytest

from app.evaluation import chunks
from app.evaluation.measure.score_histograms import LabelHistograms, edges_of
from app.metrics.average_precision import average_precision, average_precision_bounds
from app.metrics.counting.ranked_positives import ranked_positives
from tests.evaluation.systems import judged, made_up


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
def test_figures_lie_within_the_stated_error(
    seed: int, ties: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 50)
    monkeypatch.setattr("app.evaluation.measure.score_histograms.MOST_EDGES", 64)
    system, documents = made_up(600, seed=seed, ties=ties)
    exact = judged(system, documents)
    rough = judged(system, documents, max_cells=500)
    assert exact["conventions"]["exact_curves"]
    assert not rough["conventions"]["exact_curves"]
    said = next(w for w in rough["warnings"] if w.startswith("too many scores"))
    error, below, off = map(float, re.findall(r"\d\.\d{4}", said))
    for one, other in zip(exact["labels"], rough["labels"], strict=True):
        difference = abs(one["average_precision"] - other["average_precision"])
        assert difference <= error, one["label"]
    best, reached = (highest_f1(report["curves"]["micro"]) for report in (exact, rough))
    assert reached <= best + 1e-12
    assert best <= reached + below
    points = [report["decisions"]["break_even"] for report in (exact, rough)]
    assert abs(points[0]["value"] - points[1]["value"]) <= off
    for part in ("ranking", "data"):
        assert rough[part] == exact[part]


def highest_f1(curve: list[dict[str, float]]) -> float:
    inner = [(p["precision"], p["recall"]) for p in curve[1:-1]]
    return max(2 * p * r / (p + r) for p, r in inner if p + r)


def test_average_precision_lies_between_its_bounds_for_any_scores() -> None:
    rng = np.random.default_rng(0)
    for seen, levels in ((20, 1000), (200, 5), (200, 1000)):
        scores = (rng.integers(0, levels, 2000) / levels).astype(np.float32)
        marks = rng.random(2000) < 0.05 + 0.2 * scores
        histograms = LabelHistograms(1)
        histograms.begin([(0, scores[:seen], marks[:seen])])
        histograms._count(0, scores[seen:], marks[seen:])
        lower, upper = average_precision_bounds(histograms.bins(0))
        exact = average_precision(ranked_positives(scores, marks))
        assert exact is not None
        assert lower - 1e-12 <= exact <= upper + 1e-12


def test_edges_are_finest_among_the_best_scores() -> None:
    edges = edges_of(np.arange(10_000, dtype=np.float32), 64)
    assert edges[-32:].tolist() == list(range(9968, 10_000))
    assert edges[0] == 0.0
    assert (np.diff(edges) > 0).all()
    assert np.isinf(edges_of(np.full(5, -np.inf, np.float32), 4)).all()
