"""Random scores and truth: ties, empty rows and all-zero columns are likely."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

Dense = NDArray[np.bool_]


@st.composite
def scored(
    draw: Any, *, ties: bool = True, documents: int = 8, labels: int = 7
) -> tuple[NDArray[np.float32], Dense]:
    """(scores, truth) as dense arrays."""
    n, m = draw(st.integers(1, documents)), draw(st.integers(2, labels))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(-2, 3, (n, m)) / 2 if ties else rng.permuted(rng.normal(size=(n, m)))
    truth = rng.random((n, m)) < draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    truth[:, rng.random(m) < 0.2] = False
    truth[rng.random(n) < 0.2] = False
    return scores.astype(np.float32), truth


def sparse(truth: Dense) -> Any:
    found = csr_array(truth)
    found.sort_indices()
    return found
