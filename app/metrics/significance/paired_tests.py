"""Tests for two systems on the same documents (Yang & Liu 1999)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr


class SignTest(NamedTuple):
    """How often each system was the better one, and how probable that is if neither is better."""

    wins_a: int
    wins_b: int
    p: float


class TTest(NamedTuple):
    """The mean difference over labels, its t statistic and two-sided p."""

    mean: float
    t: float | None
    p: float


def sign_test(wins_a: int, wins_b: int) -> SignTest:
    """Two-sided exact binomial test with p = ½; draws are left out beforehand.

    >>> sign_test(9, 1).p
    0.021484375
    """
    n, fewer = wins_a + wins_b, min(wins_a, wins_b)
    return SignTest(wins_a, wins_b, min(1.0, 2 * float(bdtr(fewer, n, 0.5))) if n else 1.0)


def micro_sign_test(errors_a: NDArray[np.int64], errors_b: NDArray[np.int64]) -> tuple[int, int]:
    """Decisions that only A got right, and that only B got right; given the wrong ones of each."""
    both = len(np.intersect1d(errors_a, errors_b, assume_unique=True))
    return len(errors_b) - both, len(errors_a) - both


def macro_sign_test(f1_a: NDArray[np.float64], f1_b: NDArray[np.float64]) -> SignTest:
    """Over the labels whose F1 differ."""
    return sign_test(int((f1_a > f1_b).sum()), int((f1_b > f1_a).sum()))


def paired_t_test(f1_a: NDArray[np.float64], f1_b: NDArray[np.float64]) -> TTest:
    """Over the differences of all labels' F1; p is 1 where they are all equal to 0.

    >>> test = paired_t_test(np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 1.0]))
    >>> round(test.t, 4), round(test.p, 4)
    (2.5, 0.1296)
    """
    differences = f1_a - f1_b
    n = len(differences)
    mean = float(differences.mean()) if n else 0.0
    spread = float(differences.std(ddof=1)) if n > 1 else 0.0
    if spread == 0.0:
        return TTest(mean, None, 1.0 if mean == 0.0 or n < 2 else 0.0)
    t = mean / (spread / math.sqrt(n))
    return TTest(mean, t, float(2 * stdtr(n - 1, -abs(t))))
