"""The cases that napkinXC and Annif publish with their metrics: same input, same values.

The numbers are those of `python/tests/test_metrics.py` (github.com/mwydmuch/napkinXC) and of
`tests/test_eval.py` (github.com/NatLibFi/Annif); how they are run is our own. What is compared
differently is said in docs/metrics.md: a document without true labels has NDCG 0, in Annif 1.
"""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.metrics.counting.cells import Averaging
from app.metrics.counting.pairs import FN, FP, TP, Pairs
from app.metrics.counting.true_ranks import TrueRanks
from app.metrics.ndcg import best_dcg_at, dcg_at, ndcg_at
from app.metrics.precision_at_k import hits_at, precision_at, recall_at
from app.metrics.propensity import psndcg_at, psp_at, ratio_of_sums
from app.metrics.suite import suite
from tests.metrics.cases import sparse

UNSCORED = -math.inf
N_LABELS = 8


def ranked_rows(*rows: list[int]) -> NDArray[np.float32]:
    """Scores that rank the labels of each row in this order; the others have none."""
    scores = np.full((len(rows), N_LABELS), UNSCORED, np.float32)
    for row, labels in enumerate(rows):
        scores[row, labels] = np.arange(len(labels), 0, -1)
    return scores


def scored_rows(*rows: dict[int, float]) -> NDArray[np.float32]:
    scores = np.full((len(rows), N_LABELS), UNSCORED, np.float32)
    for row, labels in enumerate(rows):
        scores[row, list(labels)] = list(labels.values())
    return scores


def true_rows(*rows: list[int]) -> NDArray[np.bool_]:
    truth = np.zeros((len(rows), N_LABELS), np.bool_)
    for row, labels in enumerate(rows):
        truth[row, labels] = True
    return truth


NAPKINXC_TRUTH = true_rows([1, 2, 3], [3, 4, 7])
NAPKINXC_RANKINGS = {
    "lists": ranked_rows([1, 2, 4], [7, 6, 3]),
    "lists with scores": scored_rows({1: 1.0, 2: 0.9, 4: 0.8}, {7: 1.0, 6: 0.9, 3: 0.8}),
    "lists of unequal length": ranked_rows([1, 2], [7, 6, 3, 1]),
    "a dense matrix": np.float32(
        [[0, 1, 0.9, 0.4, 0.8, 0.35, 0.3, 0.2], [0, 0.1, 0.3, 0.8, 0, 0.2, 0.9, 1.0]]
    ),
    "a sparse matrix": scored_rows(
        {1: 1.0, 2: 0.9, 3: 0.4, 4: 0.8}, {3: 0.85, 5: 0.3, 6: 0.95, 7: 1.0}
    ),
    # cat, dog, wolf and kitty, puppy, tiger; true are cat, dog, tiger and tiger, wolf, kitty.
    "names": ranked_rows([1, 2, 4], [7, 6, 3]),
}
NAPKINXC_FIGURES: dict[str, list[float]] = {
    "P": [1, 3 / 4, 2 / 3],
    "R": [1 / 3, 1 / 2, 2 / 3],
    "NDCG": [1, 0.8065736, 0.73463936],
    "coverage": [2 / 5, 3 / 5, 4 / 5],
    "abandonment": [1, 1, 1],
}


def coverage_at(ranked: TrueRanks, k: int) -> float:
    """The share of all labels that are true anywhere which are found at least once."""
    return len(np.unique(ranked.column[ranked.rank <= k])) / len(np.unique(ranked.column))


AT_K: dict[str, Any] = {
    "P": lambda ranked, k: precision_at(ranked, k).mean(),
    "R": lambda ranked, k: recall_at(ranked, k).mean(),
    "NDCG": lambda ranked, k: ndcg_at(ranked, k).mean(),
    "coverage": coverage_at,
    "abandonment": lambda ranked, k: (hits_at(ranked, k) > 0).mean(),
}


@pytest.mark.parametrize("form", NAPKINXC_RANKINGS)
@pytest.mark.parametrize("figure", NAPKINXC_FIGURES)
def test_rankings_of_napkinxc_have_its_figures(figure: str, form: str) -> None:
    ranked = TrueRanks.of(NAPKINXC_RANKINGS[form], sparse(NAPKINXC_TRUTH))
    found = [AT_K[figure](ranked, k) for k in (1, 2, 3)]
    assert found == pytest.approx(NAPKINXC_FIGURES[figure], abs=1e-7)


DECIDED = true_rows([1, 2, 4], [7, 6, 3])


@pytest.mark.parametrize(
    ("average", "zero_division", "value"),
    [
        ("micro", "0", 2 / 3),
        ("macro", "0", (1 + 1 + 2 / 3 + 0 + 0 + 1) / 8),
        ("macro", "1", (1 + 1 + 1 + 2 / 3 + 0 + 1 + 0 + 1) / 8),
        ("samples", "0", 2 / 3),
    ],
)
def test_decisions_of_napkinxc_have_its_f1(average: str, zero_division: Any, value: float) -> None:
    found = suite(
        DECIDED.astype(np.float32),
        sparse(NAPKINXC_TRUTH),
        DECIDED,
        averaging=Averaging(zero_division),
    )
    assert found["decisions"][average]["f1"] == pytest.approx(value)


def test_decisions_of_napkinxc_have_its_hamming_loss() -> None:
    kinds = Pairs.of(DECIDED, sparse(NAPKINXC_TRUTH)).kind
    assert np.isin(kinds, (FP, FN)).sum() / len(DECIDED) == 2


NAPKINXC_ROWS = true_rows([1, 2, 3], [3, 4, 7], [0])
NAPKINXC_PSP = [0.7692307692307693, 0.6666666666666666, 0.6666666666666665]
NAPKINXC_PSNDCG = [0.7692307692307693, 0.6918051683606452, 0.687032354891398]


def test_propensity_scored_figures_are_those_that_napkinxc_gives() -> None:
    """Inverse propensities 1, 2, … 8 of the labels; the values are napkinXC 0.7.2's."""
    inverse = np.append(np.arange(1.0, 9.0), 9.0)
    ranked = TrueRanks.of(ranked_rows([1, 2, 4], [7, 6, 3], [5, 0]), sparse(NAPKINXC_ROWS), inverse)
    for metric, expected in ((psp_at, NAPKINXC_PSP), (psndcg_at, NAPKINXC_PSNDCG)):
        sums = [metric(ranked, k).sum(axis=0).tolist() for k in (1, 2, 3)]
        assert [ratio_of_sums(one, 3) for one in sums] == pytest.approx(expected, abs=1e-12)


ANNIF_PAIRS = [
    ([0, 2, 4], [0, 1, 3, 4], TP, 2),
    ([0, 1, 3, 4], [0, 2, 3, 4], TP, 3),
    ([0, 2, 4], [0, 1, 3, 4], FP, 2),
    ([0, 1, 3, 4], [0, 2, 3, 4], FP, 1),
    ([0, 2, 4], [0, 1, 3, 4], FN, 1),
    ([0, 1, 3, 4], [0, 2, 3], FN, 2),
]


@pytest.mark.parametrize(("true", "decided", "kind", "count"), ANNIF_PAIRS)
def test_decisions_of_annif_are_counted_alike(
    true: list[int], decided: list[int], kind: int, count: int
) -> None:
    pairs = Pairs.of(true_rows(decided), sparse(true_rows(true)))
    assert int((pairs.kind == kind).sum()) == count


def annif_ranked(gains: list[int], scores: list[float], level: int = 1) -> TrueRanks:
    """Labels of at least that gain are true; a score of 0 is none, as in a sparse matrix."""
    found = np.where(np.array(scores) == 0, UNSCORED, scores).astype(np.float32)
    return TrueRanks.of(found[None], csr_array(np.array([gains]) >= level))


def graded(metric: Any, gains: list[int], scores: list[float], k: int) -> float:
    """DCG of graded gains: a gain of 3 is that of three true labels at the same rank."""
    levels = range(1, max(gains) + 1)
    return sum(float(metric(annif_ranked(gains, scores, level), k)[0]) for level in levels)


@pytest.mark.parametrize(
    ("gains", "scores", "low", "high"),
    [
        ([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], 6.86, 6.87),
        ([3, 3, 3, 2, 2, 2, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1], 8.74, 8.75),
    ],
)
def test_graded_gains_of_annif_have_its_dcg(
    gains: list[int], scores: list[float], low: float, high: float
) -> None:
    assert low < graded(dcg_at, gains, scores, 6) < high


def test_graded_gains_of_annif_have_its_ndcg() -> None:
    gains, scores = [3, 2, 3, 0, 1, 2, 3, 2], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 0.0]
    found = graded(dcg_at, gains, scores, 6) / graded(best_dcg_at, gains, scores, 6)
    assert 0.78 < found < 0.79


ANNIF_GAINS = [1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
ANNIF_SCORES = [7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("gains", "scores", "k", "low", "high"),
    [
        (ANNIF_GAINS, ANNIF_SCORES, 15, 0.49, 0.50),
        (ANNIF_GAINS, ANNIF_SCORES, 10, 0.55, 0.56),
        (ANNIF_GAINS, ANNIF_SCORES, 5, 0.85, 0.86),
        ([1] * 5, [0] * 5, 5, 0.0, 0.0),
    ],
)
def test_rankings_of_annif_have_its_ndcg(
    gains: list[int], scores: list[float], k: int, low: float, high: float
) -> None:
    assert low <= ndcg_at(annif_ranked(gains, scores), k)[0] <= high


def test_a_document_without_true_labels_has_ndcg_0_where_annif_has_1() -> None:
    assert ndcg_at(annif_ranked([0] * 5, [1.0] * 5), 5).tolist() == [0.0]


def test_a_batch_of_annif_has_its_averages_over_documents() -> None:
    decided, truth = true_rows([0], [1]), true_rows([0], [0])
    found = suite(decided.astype(np.float32), sparse(truth), decided)["decisions"]["samples"]
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    kinds = Pairs.of(decided, sparse(truth)).kind.tolist()
    assert sorted(kinds) == sorted([TP, FP, FN])
