"""Every ranking metric against the literal version of its definition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from app.metrics.break_even import TopScores, break_even
from app.metrics.counting.true_ranks import TrueRanks
from app.metrics.eleven_point import eleven_points, mean_of_points
from app.metrics.ndcg import ndcg_at
from app.metrics.precision_at_k import precision_at, r_precision_at, recall_at
from app.metrics.propensity import inverse_propensities, psndcg_at, psp_at, ratio_of_sums
from app.metrics.reciprocal_rank import reciprocal_rank
from tests.metrics import literal
from tests.metrics.cases import scored, sparse

many = settings(max_examples=80, deadline=None)


@st.composite
def cases(draw: Any) -> Any:
    """Scores with ties and gaps, and a truth that may have zero-shot columns."""
    scores, truth = draw(scored())
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    scores[rng.random(scores.shape) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    extra = rng.random((len(truth), draw(st.integers(0, 2)))) < 0.3
    wide = np.hstack([truth, extra])
    return scores, wide, [set(np.flatnonzero(row).tolist()) for row in wide]


@many
@given(cases(), st.integers(1, 10))
def test_figures_at_k_are_as_defined(case: Any, k: int) -> None:
    scores, wide, relevant = case
    ranked = TrueRanks.of(scores, csr_array(wide))
    found = [literal.at_k(row, true, k) for row, true in zip(scores, relevant, strict=True)]
    ours = {"P": precision_at, "R": recall_at, "RP": r_precision_at, "NDCG": ndcg_at}
    for name, metric in ours.items():
        expected = [one[name] for one in found]
        assert metric(ranked, k) == pytest.approx(expected, rel=1e-12, abs=1e-12), name


@many
@given(cases())
def test_eleven_points_and_reciprocal_ranks_are_as_defined(case: Any) -> None:
    scores, wide, relevant = case
    ranked = TrueRanks.of(scores, csr_array(wide))
    pairs = list(zip(scores, relevant, strict=True))
    expected = np.array([literal.eleven_points(*pair) for pair in pairs])
    assert eleven_points(ranked) == pytest.approx(expected, abs=1e-12)
    average = mean_of_points(eleven_points(ranked).sum(axis=0).tolist(), len(scores))
    assert average == pytest.approx(expected.mean(), abs=1e-12)
    ours = reciprocal_rank(ranked)
    assert ours == pytest.approx([literal.reciprocal_rank(*pair) for pair in pairs], abs=1e-12)


@many
@given(cases(), st.integers(1, 8))
def test_propensity_scored_figures_are_as_defined(case: Any, k: int) -> None:
    scores, wide, relevant = case
    counts = [3 * label for label in range(scores.shape[1])]
    inverse = inverse_propensities(np.array([*counts, 0]), 50)
    ranked = TrueRanks.of(scores, csr_array(wide), inverse)
    expected = literal.propensity_scored(scores, relevant, counts, 50, k)
    for metric, value in zip((psp_at, psndcg_at), expected, strict=True):
        sums = metric(ranked, k).sum(axis=0).tolist()
        assert ratio_of_sums(sums, len(scores)) == pytest.approx(value, abs=1e-12)


@many
@given(cases())
def test_the_break_even_point_is_as_defined(case: Any) -> None:
    scores, wide, _ = case
    truth = wide[:, : scores.shape[1]]
    if not truth.any():
        assert break_even(TopScores(0), scores[truth]) == (0.0, 0.0)
        return
    top = TopScores(int(truth.sum()))
    for row in scores:
        top.add(row)
    assert break_even(top, scores[truth]) == pytest.approx(literal.break_even(scores, truth))


def test_top_scores_keep_count_of_ties_however_they_come() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 9, 400).astype(np.float32)
    top = TopScores(50)
    for piece in np.array_split(scores, 40):
        top.add(piece)
        top.kept()
    lowest, above, at_least = top.cut()
    assert lowest == np.sort(scores)[-50]
    assert above == (scores > lowest).sum()
    assert at_least == (scores >= lowest).sum()


def test_precision_at_k_beyond_the_labels_counts_missing_places_as_misses() -> None:
    ranked = TrueRanks.of(np.float32([[0.5, 0.1]]), sparse(np.array([[True, True]])))
    assert precision_at(ranked, 4).tolist() == [0.5]
    assert ndcg_at(ranked, 4).tolist() == [1.0]


def test_very_small_training_sets_give_no_propensity_above_one() -> None:
    assert inverse_propensities(np.array([0, 1]), 1).tolist() == [1.0, 1.0]
