"""Which terms stay: limits on document frequency, and the most frequent ones."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.arrays import occurrences
from app.errors import InvalidRequestError
from app.kernels.text.counts import Counts
from app.vectorizers.tfidf_settings import TfidfSettings


class TermUse(NamedTuple):
    """In how many of the documents each term stands, and what gives how often it does."""

    frequencies: NDArray[np.int64]
    n_documents: int
    total: Callable[[], NDArray[np.float64]]

    @classmethod
    def of(cls, counts: Counts, n_terms: int) -> "TermUse":
        """That of counts in memory."""

        def total() -> NDArray[np.float64]:
            every: NDArray[Any] = np.bincount(counts.columns, counts.counts, minlength=n_terms)
            return every

        return cls(occurrences(counts.columns, n_terms), len(counts.indptr) - 1, total)


def frequent_enough(use: TermUse, settings: TfidfSettings) -> NDArray[np.bool_]:
    """Marks the terms within `min_df` and `max_df`, of these the `max_features` most used."""
    lowest = _number(settings.min_df, use.n_documents)
    highest = _number(settings.max_df, use.n_documents)
    if highest < lowest:
        raise InvalidRequestError("tfidf max_df: means fewer documents than min_df")
    frequencies = use.frequencies
    keep: NDArray[np.bool_] = (frequencies >= lowest) & (frequencies <= highest)
    limit = settings.max_features
    if limit is not None and keep.sum() > limit:
        # scikit-learn's own order, so that ties at the limit fall as they do there.
        most_used = (-use.total()[keep]).argsort()[:limit]
        chosen = np.flatnonzero(keep)[most_used]
        keep = np.zeros(len(frequencies), dtype=np.bool_)
        keep[chosen] = True
    return keep


def _number(frequency: int | float, n_documents: int) -> int | float:
    return frequency if isinstance(frequency, int) else frequency * n_documents
