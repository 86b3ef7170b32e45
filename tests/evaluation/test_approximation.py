"""Beyond the bound: figures without all scores stay within the error that the report states."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.evaluation import chunks
from app.evaluation.measure import rank_bins
from app.evaluation.storage.score_store import ScoreStore
from app.metrics.average_precision import average_precision
from app.metrics.counting.ranked_positives import ranked_positives
from app.metrics.counting.score_rows import DenseRows, ScoredPairs
from tests.evaluation.systems import judged, made_up


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("sparse", [1, 10_000])
def test_figures_lie_within_the_stated_error(
    seed: int, ties: bool, sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 50)
    monkeypatch.setattr(rank_bins, "TOLERANCE", 0.2)
    monkeypatch.setattr("app.metrics.counting.score_rows.SPARSE", sparse)
    monkeypatch.setattr("app.evaluation.measure.break_even_bounds.EDGES", 64)
    rank_bins._bin_ends.cache_clear()
    system, documents = made_up(600, seed=seed, ties=ties)
    exact = judged(system, documents)
    rough = judged(system, documents, max_scores=1000)
    rank_bins._bin_ends.cache_clear()
    assert exact["conventions"]["exact_curves"]
    assert not rough["conventions"]["exact_curves"]
    said = next(w for w in rough["warnings"] if w.startswith("too many scores"))
    error, below, off = map(float, re.findall(r"\d\.\d{4}", said))
    assert (error > 0) or ties
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


@pytest.mark.parametrize("rows", [DenseRows, ScoredPairs.of])
def test_the_stated_error_is_under_one_hundredth(rows: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((30_000, 3)) < (0.002, 0.05, 0.3)
    scores = (truth + rng.normal(size=truth.shape)).astype(np.float32)
    store = ScoreStore(tmp_path, 3, max_scores=20_000)
    for start in range(0, len(truth), 1000):
        part = slice(start, start + 1000)
        store.add(rows(scores[part]), csr_array(truth[part]))
    figures, error = store.figures(truth.sum(axis=0))
    store.close()
    assert error is not None
    assert max(error.labels["average_precision"], error.micro_f1, error.break_even) < 0.01
    for label, value in enumerate(figures.labels["average_precision"]):
        exact = average_precision(ranked_positives(scores[:, label], truth[:, label]))
        assert exact is not None
        assert abs(value - exact) <= error.labels["average_precision"] + 1e-12


def test_no_bin_is_larger_than_a_share_of_those_above_it() -> None:
    bins = rank_bins.rank_bins(np.arange(100_000, dtype=np.float32))
    above = np.cumsum(bins.size) - bins.size
    assert bins.size.sum() == 100_000
    assert (bins.size <= np.maximum(1, rank_bins.TOLERANCE * above)).all()
    assert (bins.high[1:] < bins.low[:-1]).all()
    assert len(bins.size) < 1600
