"""Fleiss' kappa: agreement of several annotators beyond chance (Fleiss 1971)."""

from app.metrics.agreement.ratings import Coefficients, Ratings


def fleiss_kappa(ratings: Ratings) -> Coefficients:
    """κ of every label, and of all, over the documents that all annotators judged.

    Chance gives a label to every document with the share p of values that it has; two values then
    differ with probability 2p(1−p). With one label a document the overall κ is Fleiss' own, of as
    many categories as there are labels. NaN with one annotator, or without common documents.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> given = csr_array([[3, 0], [0, 3], [1, 2]])
    >>> round(fleiss_kappa(Ratings(np.array([3, 3, 3]), given, 3)).overall, 4)
    0.55
    """
    complete = ratings.of((ratings.judges == ratings.n_annotators) & (ratings.judges > 1))
    share = complete.n_given / max(complete.n_values, 1)
    return Coefficients.of(complete.observed(), 2 * share * (1 - share))
