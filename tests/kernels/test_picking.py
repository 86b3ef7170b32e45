"""Labels above their cuts: the compiled choice equals the plain one, ties and limits included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kernels.linear import picking, picking_plain, text_scorer, text_scorer_plain
from app.kernels.linear.answer_values import NO_CURVES, Curves
from app.kernels.linear.types import Linear, Weighing
from app.kernels.text.analysis import Analysis
from app.kernels.vocabulary.vocabulary import Vocabulary

FEW_VALUES = st.sampled_from([-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
PAIRS = st.lists(st.tuples(FEW_VALUES, FEW_VALUES), max_size=60)


def picked(module: object, scores: np.ndarray, cuts: np.ndarray, room: int) -> tuple:
    columns, best = np.full(room, -1, np.int64), np.full(room, np.nan, np.float32)
    n_passing = module.pick(scores, cuts, columns, best)  # type: ignore[attr-defined]
    return n_passing, columns[:n_passing].tolist(), best[:n_passing].tolist()


@settings(max_examples=300, deadline=None)
@given(PAIRS, st.integers(1, 8))
def test_ties_and_limits_are_decided_as_in_the_plain_version(
    pairs: list[tuple[float, float]], room: int
) -> None:
    scores, cuts = np.array(pairs, np.float32).reshape(-1, 2).T.copy()
    assert picked(picking, scores, cuts, room) == picked(picking_plain, scores, cuts, room)


@pytest.mark.parametrize("module", [picking, picking_plain])
def test_among_equal_scores_the_lower_column_comes_first_and_stays_in(module: object) -> None:
    scores, cuts = np.array([1, 3, 1, 3, 1], np.float32), np.zeros(5, np.float32)
    assert picked(module, scores, cuts, 3) == (5, [1, 3, 0], [3.0, 3.0, 1.0])


@pytest.mark.parametrize("has_curves", [False, True])
@pytest.mark.parametrize("n_labels", [1, 40])
def test_one_call_from_text_to_values_equals_scoring_then_picking(
    n_labels: int, has_curves: bool
) -> None:
    random = np.random.default_rng(n_labels)
    weighing = Weighing(Analysis(), Vocabulary.of(["aa", "ab", "ba"]), np.ones(3), "tfidf", False)
    weights = random.integers(-2, 3, (3, n_labels)).astype(np.float32)
    linear = Linear.of({"weights": weights, "bias": np.zeros(n_labels, np.float32)})
    cuts = random.choice([-0.5, 0.0, 0.7], n_labels).astype(np.float32)
    knots = np.arange(n_labels + 1) // 2 * 2  # two knots for every other label
    rising = np.tile([-1.0, 1.0], n_labels)[: knots[-1]]
    curves = Curves(
        random.normal(size=n_labels), random.normal(size=n_labels), knots, rising, rising
    )
    curves = curves if has_curves else NO_CURVES
    fast, plain = (
        text_scorer.TextScorer(weighing, linear),
        text_scorer_plain.TextScorer(weighing, linear),
    )
    for text in ("", "aa", "ab ba", "aa aa ba ba ab", "unknown"):
        for room in (1, 3, 50):
            found = fast.picked(text, picking.LabelValues(cuts, curves), room)
            expected = plain.picked(text, picking_plain.LabelValues(cuts, curves), room)
            assert found[0] == expected[0]
            np.testing.assert_array_equal(found[1], expected[1])
