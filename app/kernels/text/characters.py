"""Which characters Python takes for word characters, and which for white space."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

WORD, SPACE = 1, 2
OTHER, WIDE = 0, 255
"""Marks in `letters`: no word character; a byte of a character beyond ASCII."""


@cache
def classes() -> NDArray[np.uint8]:
    r"""WORD, SPACE or 0 for every code point, as this very Python decides for `\w` and `\s`.

    Made anew in each process: Python versions differ in the Unicode version they know.
    """
    every = np.arange(0x110000, dtype="<u4").view("<U1")
    marks = np.char.isalnum(every).astype(np.uint8)
    marks[ord("_")] = WORD
    marks[np.char.isspace(every)] = SPACE
    return marks


@cache
def letters(lowercase: bool) -> NDArray[np.uint8]:
    """For every byte: the word character it is, lower-cased if so wanted; else OTHER or WIDE."""
    table = np.full(256, WIDE, dtype=np.uint8)
    for byte in range(128):
        is_letter = chr(byte).isalnum() or byte == ord("_")
        table[byte] = ord(chr(byte).lower() if lowercase else chr(byte)) if is_letter else OTHER
    return table
