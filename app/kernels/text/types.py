"""The arrays that kernels pass to one another, in named groups."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Terms(NamedTuple):
    """A vocabulary as kernels see it (app/kernels/vocabulary/vocabulary.py)."""

    packed: NDArray[np.uint8]
    ends: NDArray[np.uint32]
    table: NDArray[np.uint32]


class Cutting(NamedTuple):
    """How a text is cut into terms, in numbers and tables (app/kernels/text/analysis.py)."""

    analyzer: int
    shortest: int
    longest: int
    lowercase: bool
    letters: NDArray[np.uint8]
    classes: NDArray[np.uint8]
    stops: Terms


class Segments(NamedTuple):
    """Room for one text: its cleaned bytes and where its units (words, characters) stand in them.

    `group_ends` are unit numbers; no term reaches over the end of a group.
    """

    cleaned: NDArray[np.uint8]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    group_ends: NDArray[np.int32]


class Spans(NamedTuple):
    """Room for the terms that start at a few units: their hashes, places, and table entries."""

    hashes: NDArray[np.uint32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    entries: NDArray[np.uint32]
    term_starts: NDArray[np.int64]


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only plain view: kernels are compiled once for fresh and for memory-mapped arrays."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view
