"""The arrays that text kernels pass to one another, in named groups."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Terms(NamedTuple):
    """A vocabulary's terms and hash table (app/kernels/vocabulary/vocabulary.py)."""

    packed: NDArray[np.uint8]
    ends: NDArray[np.uint32]
    table: NDArray[np.uint32]


class Segmentation(NamedTuple):
    """How a text is segmented into tokens and n-grams: an `Analysis` in numbers and tables."""

    analyzer: int
    shortest: int
    longest: int
    lowercase: bool
    letters: NDArray[np.uint8]
    classes: NDArray[np.uint8]
    stop_words: Terms


class Leads(NamedTuple):
    """How many first words count again, and the column of each term there, lead after lead.

    A column of −1 means none; there are as many to a lead as there are terms.
    """

    lengths: NDArray[np.int64]
    columns: NDArray[np.int32]


class TextTable(NamedTuple):
    """What the kernels that read texts are given as an array table."""

    segmentation: Segmentation
    terms: Terms
    leads: Leads


class Segments(NamedTuple):
    """Buffers for one text: its cleaned bytes, and where its tokens stand in them.

    A token is a word or a character. `group_ends` are token numbers; no n-gram crosses the end of
    a group.
    """

    cleaned: NDArray[np.uint8]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    group_ends: NDArray[np.int32]


class Spans(NamedTuple):
    """Buffers for the n-grams that start at a few tokens: hashes, byte spans, hash table entries.

    `term_starts` is where the vocabulary's term of the entry begins.
    """

    hashes: NDArray[np.uint32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    entries: NDArray[np.uint32]
    term_starts: NDArray[np.int64]
