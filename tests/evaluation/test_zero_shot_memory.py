"""Labels that the model never saw cost memory by their pairs, never by documents × labels."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.evaluation.measure.certainty import Certainty
from app.evaluation.storage.pair_score_file import PairScoreFile
from app.evaluation.storage.score_file import ScoreFile
from app.evaluation.storage.score_store import ScoreStore
from app.metrics.counting.pairs import Pairs
from app.metrics.counting.score_rows import DenseRows, ScoredPairs

SCORES = np.float32([[0.9, 0.2], [0.6, 0.8]])
BEYOND_ANY_MEMORY = 10**15


def truth() -> csr_array:
    """Record 0 has label 0 and the last zero-shot label, document 1 has label 1."""
    columns, ends = np.array([0, BEYOND_ANY_MEMORY - 1, 1]), np.array([0, 2, 3])
    return csr_array((np.ones(3, np.bool_), columns, ends), shape=(2, BEYOND_ANY_MEMORY))


@pytest.mark.parametrize("form", [ScoreFile, PairScoreFile])
def test_kept_scores_hold_the_trained_labels_alone(form: Any, tmp_path: Path) -> None:
    file = form(tmp_path, 2)
    file.append(DenseRows(SCORES), truth())
    true = [scores[marks].tolist() for _, scores, marks in file.columns()]
    assert [len(marks) for _, _, marks in file.columns()] == [2, 2]
    file.close()
    assert true == [[SCORES[0, 0]], [SCORES[1, 1]]]


def test_bins_count_the_trained_labels_alone(tmp_path: Path) -> None:
    store = ScoreStore(tmp_path, 2, max_scores=1)
    store.add(DenseRows(SCORES), truth())
    figures, error = store.figures(np.array([1, 1]))
    store.close()
    assert error is not None
    assert figures.labels["average_precision"] == [1.0, 1.0]


@pytest.mark.parametrize("rows", [DenseRows(SCORES), ScoredPairs.of(SCORES)])
def test_reliability_looks_at_the_trained_labels_alone(rows: Any) -> None:
    by_score: Any = SimpleNamespace(
        probabilities=np.asarray, probability=lambda labels, scores: scores
    )
    certainty = Certainty(by_score)
    certainty.add(rows, truth(), Pairs.of(SCORES > 0.5, truth()))
    assert certainty.risk_coverage()[-1]["coverage"] == 1.0
    assert certainty.risk_coverage()[-1]["risk"] == pytest.approx(1 / 3)
