"""Labels that the model never saw cost memory by their pairs, never by documents × labels."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array

from app.evaluation.measure.certainty import Certainty
from app.evaluation.measure.score_histograms import LabelHistograms
from app.evaluation.storage.score_file import ScoreFile

SCORES = np.float32([[0.9, 0.2], [0.6, 0.8]])
BEYOND_ANY_MEMORY = 10**15


def truth() -> csr_array:
    """Record 0 has label 0 and the last zero-shot label, document 1 has label 1."""
    columns, ends = np.array([0, BEYOND_ANY_MEMORY - 1, 1]), np.array([0, 2, 3])
    return csr_array((np.ones(3, np.bool_), columns, ends), shape=(2, BEYOND_ANY_MEMORY))


def test_kept_scores_hold_the_trained_labels_alone(tmp_path: Path) -> None:
    file = ScoreFile(tmp_path, 2)
    file.append(SCORES, truth())
    marks = [marks.tolist() for _, _, marks in file.columns()]
    file.close()
    assert marks == [[True, False], [False, True]]


def test_histograms_count_the_trained_labels_alone() -> None:
    histograms = LabelHistograms(2)
    histograms.add(SCORES, truth())
    assert histograms.positives.tolist() == [1, 1]


def test_reliability_looks_at_the_trained_labels_alone() -> None:
    certainty = Certainty(SimpleNamespace(probabilities=np.asarray))
    certainty.add(SCORES, truth(), SCORES > 0.5)
    assert certainty.risk_coverage()[-1]["coverage"] == 1.0
