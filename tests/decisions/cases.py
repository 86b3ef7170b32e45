"""Small random held-out sets with many ties, and every decision that cuts can make on them."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.heldout import HeldOut

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 3))
TIED = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.75, 2.0])
NARROW = st.floats(width=32, allow_nan=False, allow_infinity=False)
BETAS = st.sampled_from([0.3, 0.5, 1.0, 2.0])


def given_patiently(*strategies: st.SearchStrategy[Any]) -> Callable[[Any], Any]:
    """Hypothesis without its clock: a busy machine is no failure."""
    return lambda test: settings(deadline=None, max_examples=60)(given(*strategies)(test))


@st.composite
def held_outs(draw: st.DrawFn, values: st.SearchStrategy[float] = TIED) -> HeldOut:
    shape = draw(SHAPES)
    scores = draw(arrays(np.float32, shape, elements=values))
    return HeldOut.of(scores, csr_array(draw(arrays(np.bool_, shape))))


def dense_truth(held_out: HeldOut) -> NDArray[np.bool_]:
    return held_out.truth.toarray()


def counts(marks: NDArray[np.bool_], truth: NDArray[np.bool_]) -> tuple[int, int]:
    return int((marks & truth).sum()), int((marks & ~truth).sum())


def f_beta(tp: int, fp: int, positives: int, beta: float) -> float:
    denominator = tp + fp + beta**2 * positives
    return (1 + beta**2) * tp / denominator if denominator else 0.0


def every_cut(scores: NDArray[np.float32]) -> list[float]:
    """A column's cuts: above everything, and at every score that a document has (and below)."""
    return [np.inf, *np.unique(scores)[::-1].tolist(), -np.inf]


def every_decision(scores: NDArray[np.float32]) -> Iterator[NDArray[np.bool_]]:
    for cuts in product(*(every_cut(column) for column in scores.T)):
        yield scores > np.array(cuts, np.float32)


def algorithm_1(
    scores: NDArray[np.float32], truth: NDArray[np.bool_], beta: float
) -> tuple[float, int]:
    """Pillai's Algorithm 1, word by word: the value it reaches, and its sweeps."""
    cuts = np.full(scores.shape[1], -np.inf, np.float32)
    positives, sweeps, moved = int(truth.sum()), 0, True
    value = f_beta(*counts(scores > cuts, truth), positives, beta)
    while moved:
        moved, sweeps = False, sweeps + 1
        for label in range(scores.shape[1]):
            for cut in sorted(c for c in every_cut(scores[:, label]) if c > cuts[label]):
                tried = cuts.copy()
                tried[label] = cut
                reached = f_beta(*counts(scores > tried, truth), positives, beta)
                if reached > value + 1e-12:
                    cuts, value, moved = tried, reached, True
    return value, sweeps
