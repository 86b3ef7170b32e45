"""Which terms stay: limits on document frequency, and the most frequent ones."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.errors import InvalidRequestError
from app.vectorizers.tfidf_settings import TfidfSettings


def frequent_enough(
    frequency: NDArray[np.int64],
    n_documents: int,
    settings: TfidfSettings,
    uses: Callable[[], NDArray[np.float64]],
) -> NDArray[np.bool_]:
    """Marks the terms within `min_df` and `max_df`, of these the `max_features` most used.

    `frequency` is in how many documents each term stands; `uses` gives how often.
    """
    lowest, highest = _number(settings.min_df, n_documents), _number(settings.max_df, n_documents)
    if highest < lowest:
        raise InvalidRequestError("tfidf max_df: means fewer documents than min_df")
    keep: NDArray[np.bool_] = (frequency >= lowest) & (frequency <= highest)
    limit = settings.max_features
    if limit is not None and keep.sum() > limit:
        # scikit-learn's own order, so that ties at the limit fall as they do there.
        most_used = (-uses()[keep]).argsort()[:limit]
        chosen = np.flatnonzero(keep)[most_used]
        keep = np.zeros(len(frequency), dtype=np.bool_)
        keep[chosen] = True
    return keep


def _number(frequency: int | float, n_documents: int) -> int | float:
    return frequency if isinstance(frequency, int) else frequency * n_documents
