"""How many test documents were trained on, by the hashes kept in the model."""

import numpy as np
from numpy.typing import NDArray

from app.datasets.fingerprint import fingerprints
from app.evaluation.chunks import TestDocument


def seen_in_training(chunk: list[TestDocument], known: NDArray[np.uint64] | None) -> int:
    """Documents whose text's hash is among the training texts'; `known` is sorted."""
    if known is None or not len(known):
        return 0
    texts = [document.text for document in chunk if document.features is None]
    hashes = fingerprints(texts)
    at = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return int(np.count_nonzero(known[at] == hashes))
