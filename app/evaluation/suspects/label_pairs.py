"""LabelPairs: the pairs of document and label that can be suspects, with their probabilities."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_PROBABILITY = 0.05
"""A label that was not given is looked at from this probability on."""


class LabelPairs(NamedTuple):
    """Scored pairs that were given, and likely ones that were not, by document, then by label.

    A given pair without a score (a tree's beam never reached it) is left out: nothing is known
    of it.
    """

    document: NDArray[np.int32]
    label: NDArray[np.int32]
    probability: NDArray[np.float32]
    is_given: NDArray[np.bool_]
    n_documents: int
