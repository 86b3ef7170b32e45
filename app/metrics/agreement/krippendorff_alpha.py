"""Krippendorff's alpha for nominal values, some of which may be missing (Krippendorff 2011)."""

from app.metrics.agreement.ratings import Coefficients, Ratings


def krippendorff_alpha(ratings: Ratings) -> Coefficients:
    """α of every label, and of all, over the documents that two annotators or more judged.

    Chance pairs any two of the n values that were found, without putting the first one back: they
    differ with probability 2·given·(n−given) / n(n−1). With one label a document the overall α is
    Krippendorff's own for nominal values, of as many categories as there are labels. NaN where no
    document has two judges.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> given = csr_array([[3, 0], [0, 2], [1, 2]])
    >>> round(krippendorff_alpha(Ratings(np.array([3, 2, 3]), given, 3)).overall, 4)
    0.5625
    """
    paired = ratings.of(ratings.judges > 1)
    n, given = paired.n_values, paired.n_given
    return Coefficients.of(paired.observed(), 2 * given * (n - given) / max(n * (n - 1), 1))
