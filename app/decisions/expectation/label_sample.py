"""A sample of labels that stands for all: the most frequent, and others spread over the rest."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LabelSample(NamedTuple):
    """Labels, and how many labels each stands for."""

    labels: NDArray[np.int64]
    weights: NDArray[np.float64]


def label_sample(counts: NDArray[np.int64], *, most_frequent: int, others: int) -> LabelSample:
    """The most frequent labels with weight 1, and of the others so many, evenly by frequency.

    `counts` are the documents of each label; labels without one are left out.

    >>> label_sample(np.array([1, 9, 0, 2, 3, 1]), most_frequent=1, others=2)
    LabelSample(labels=array([1, 3, 5]), weights=array([1., 2., 2.]))
    """
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    rest = order[most_frequent:]
    n = min(len(rest), others)
    places = ((np.arange(n) + 0.5) * len(rest) / max(n, 1)).astype(np.int64)
    weights = np.ones(min(most_frequent, len(order)) + n)
    weights[len(weights) - n :] = len(rest) / max(n, 1)
    return LabelSample(np.concatenate([order[:most_frequent], rest[places]]), weights)
