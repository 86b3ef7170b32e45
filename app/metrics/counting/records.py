"""One small record a document: all that any mean over documents is made of.

Records go to disk in document order. Groups of documents, bootstrap samples and the number of
zero-shot labels (known only at the end) then need no second look at the scores.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.metrics.eleven_point import eleven_points
from app.metrics.label_ranking import label_ranking_parts
from app.metrics.propensity import propensity_sums
from app.metrics.ranking import TrueRanks, dcg_at, hits_at, reciprocal_rank

Records = NDArray[Any]


def record_type(n_k: int) -> np.dtype[Any]:
    """The fields of a record for that many values of K."""
    return np.dtype(
        [
            ("tp", "i4"),
            ("fp", "i4"),
            ("fn", "i4"),
            ("relevant", "i4"),
            ("length", "i4"),
            ("dropped", "i4"),
            ("covered", "i4"),
            ("unscored", "i4"),
            ("wrong", "i8"),
            ("ratio", "f8"),
            ("reciprocal_rank", "f8"),
            ("eleven", "f8", (11,)),
            ("hits", "i4", (n_k,)),
            ("dcg", "f8", (n_k,)),
            ("propensity", "f8", (n_k, 4)),
        ]
    )


def ranking_records(
    ranked: TrueRanks, ks: tuple[int, ...], inverse: NDArray[np.float64] | None
) -> Records:
    """Records of a chunk with everything but decisions and lengths filled in.

    `inverse` has one entry more than there are scored labels: that of all zero-shot ones.
    """
    records = np.zeros(len(ranked.relevant), record_type(len(ks)))
    records["relevant"] = ranked.relevant
    records["reciprocal_rank"] = reciprocal_rank(ranked)
    records["eleven"] = eleven_points(ranked)
    ratio, covered, wrong, unscored = label_ranking_parts(ranked)
    records["ratio"], records["covered"] = ratio, covered
    records["wrong"], records["unscored"] = wrong, unscored
    for i, k in enumerate(ks):
        records["hits"][:, i] = hits_at(ranked, k)
        records["dcg"][:, i] = dcg_at(ranked, k)
        if inverse is not None:
            records["propensity"][:, i] = np.stack(propensity_sums(ranked, inverse, k), axis=1)
    return records
