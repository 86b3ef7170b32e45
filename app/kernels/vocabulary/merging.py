"""One vocabulary from the terms of several parts of the documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.vocabulary.ordering import distinct, gathered, ordered
from app.kernels.vocabulary.vocabulary import Vocabulary


def joined_vocabulary(parts: list[Any]) -> tuple[Vocabulary, list[NDArray[np.int32]]]:
    """The sorted terms of all parts, and for each part the column of each of its term numbers."""
    shifts = np.cumsum([0, *(len(arena) for arena, _ in parts)])
    arena = np.concatenate([arena for arena, _ in parts])
    keys = np.concatenate([keys + shift for (_, keys), shift in zip(parts, shifts, strict=False)])
    terms, numbers = distinct(arena, keys) if len(parts) > 1 else (keys, np.arange(len(keys)))
    order = ordered(arena, terms)
    packed_terms, ends = gathered(arena, terms, order)
    columns = np.empty(len(order), np.int32)
    columns[order] = np.arange(len(order), dtype=np.int32)
    cuts = np.cumsum([len(keys) for _, keys in parts])[:-1]
    return Vocabulary.of_packed(packed_terms, ends), np.split(columns[numbers], cuts)
