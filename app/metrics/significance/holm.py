"""Holm's step-down correction: many tests, and one bound on the chance of any false finding."""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def holm(p: Values) -> Values:
    """The adjusted p of each test: the lowest level at which it is still rejected (Holm 1979).

    The i-th smallest of m is multiplied by m − i + 1; none is lower than a smaller one's, nor
    above 1. It holds however the tests depend on each other, as those of all pairs do.

    >>> holm(np.array([0.01, 0.04, 0.03, 0.005])).round(6).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p, kind="stable")
    raised = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted
