"""What a term tells of a label, by the number of documents that have both, one or neither."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class DocumentCounts(NamedTuple):
    """In how many documents some terms and some labels stand, alone and together."""

    both: NDArray[np.int64]
    """(labels, terms)"""
    labels: NDArray[np.int64]
    terms: NDArray[np.int64]
    n_documents: int


def chi_square(counts: DocumentCounts) -> NDArray[np.float64]:
    """χ² of independence, (labels, terms); 0 where term or label stands in all or no documents.

    Of the whole 2 × 2 table. scikit-learn's `chi2` sums the two cells with the term alone, which is
    (D - df)/D of this.

    >>> counts = DocumentCounts(np.array([[2, 1]]), np.array([2]), np.array([2, 2]), 4)
    >>> chi_square(counts).tolist()
    [[4.0, 0.0]]
    """
    n = float(counts.n_documents)
    labels, terms = counts.labels.astype(np.float64)[:, None], counts.terms.astype(np.float64)
    difference = counts.both * n - labels * terms
    scale = (labels * (n - labels)) * (terms * (n - terms))
    return np.divide(n * difference**2, scale, out=np.zeros(scale.shape), where=scale > 0)


def information_gain(counts: DocumentCounts) -> NDArray[np.float64]:
    """How far a term's presence lowers the entropy of a label, in nats, (labels, terms).

    Label by label, as labels do not exclude one another: what is elsewhere called the mutual
    information of two binary variables.

    >>> counts = DocumentCounts(np.array([[2, 1]]), np.array([2]), np.array([2, 2]), 4)
    >>> information_gain(counts).round(4).tolist()
    [[0.6931, 0.0]]
    """
    n, both = counts.n_documents, counts.both
    labels, terms = counts.labels[:, None], counts.terms
    # Every count is a whole number up to n, so that logarithms of few numbers are enough.
    entropy = np.arange(n + 1.0)
    entropy[1:] *= np.log(entropy[1:])
    joint = entropy[both] + entropy[labels - both] + entropy[terms - both]
    joint += entropy[n - labels - terms + both]
    alone = (entropy[labels] + entropy[n - labels]) + (entropy[terms] + entropy[n - terms])
    return np.asarray(np.maximum(joint - alone + entropy[n], 0.0) / n)


def mutual_information(counts: DocumentCounts) -> NDArray[np.float64]:
    """ln(P(term, label) / P(term)·P(label)), (labels, terms); -inf where they never meet.

    Pointwise, as Yang and Pedersen define it: rare terms are far ahead.

    >>> counts = DocumentCounts(np.array([[2, 0]]), np.array([2]), np.array([2, 2]), 4)
    >>> mutual_information(counts).round(4).tolist()
    [[0.6931, -inf]]
    """
    expected = counts.labels[:, None] * counts.terms.astype(np.float64)
    ratio = np.divide(
        counts.both * float(counts.n_documents),
        expected,
        out=np.zeros(expected.shape),
        where=expected > 0,
    )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(ratio))


MEASURES: dict[str, Callable[[DocumentCounts], NDArray[np.float64]]] = {
    "ig": information_gain,
    "mi": mutual_information,
    "chi2": chi_square,
}
"""The measures of a term and a label by their names in recipes."""
