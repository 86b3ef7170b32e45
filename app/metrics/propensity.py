"""Propensity-scored metrics: hits on rare labels count more (Jain et al. 2016)."""

import numpy as np
from numpy.typing import NDArray

from app.metrics.ranking import NEVER, TrueRanks, discount

A, B = 0.55, 1.5
Values = NDArray[np.float64]


def inverse_propensities(training_counts: NDArray[np.int64], n_documents: int) -> Values:
    """1/p for each label: 1 + C·(N_l + B)^−A with C = (ln N − 1)(B + 1)^A.

    Below N = e training documents C would be negative, that is p above 1; it is then 0.
    """
    c = max(np.log(max(n_documents, 1)) - 1.0, 0.0) * (B + 1) ** A
    return np.asarray(1 + c * (training_counts + B) ** -A, dtype=np.float64)


def propensity_sums(
    ranked: TrueRanks, inverse: Values, k: int
) -> tuple[Values, Values, Values, Values]:
    """For each document: gain and best attainable gain of PSP@k, then the same of PSnDCG@k.

    A metric is the sum of the gains over the sum of the best gains. Columns
    beyond the end of `inverse` (zero-shot labels) take its last value.
    """
    weight = inverse[np.minimum(ranked.column, len(inverse) - 1)]
    found = (ranked.rank <= k) & (ranked.rank != NEVER)
    by_rank = discount(np.where(found, ranked.rank, 1))
    order = np.lexsort((-weight, ranked.document))
    wanted = ranked.place <= k
    best = np.where(wanted, weight[order], 0.0)  # documents stay in place, so the places do too
    return (
        ranked.per_document(np.where(found, weight, 0.0)),
        ranked.per_document(best),
        ranked.per_document(np.where(found, weight * by_rank, 0.0)),
        ranked.per_document(best * discount(ranked.place)),
    )
