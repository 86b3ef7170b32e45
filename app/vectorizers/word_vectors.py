"""Word vectors from a text file of the word2vec or GloVe form."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import InvalidDataError

ACCEPTED = "a line a word: the word, then its numbers, separated by blanks"


def read_word_vectors(file: str | Path, words: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of the words, one row each; not-a-number where the file has none.

    word2vec's first line (how many words, how many numbers) may be there or not.
    """
    rows = {word: row for row, word in enumerate(words) if word}
    vectors = np.zeros((0, 0), np.float32)
    with open(file, encoding="utf-8", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, _, rest = line.rstrip().partition(" ")
            if number == 1 and len(rest.split()) == 1:
                continue  # word2vec's first line
            if not vectors.size:
                vectors = np.full((len(words), max(len(rest.split()), 1)), np.nan, np.float32)
            if word in rows:
                vectors[rows[word]] = _numbers(rest, vectors.shape[1], file, number)
    if not vectors.size:
        raise InvalidDataError("no word vectors", file=file, accepted=ACCEPTED)
    return vectors


def _numbers(text: str, width: int, file: str | Path, line: int) -> NDArray[np.float32]:
    try:
        numbers = np.array(text.split(" "), dtype=np.float32)
    except ValueError:
        numbers = np.zeros(0, np.float32)
    if len(numbers) != width or not np.isfinite(numbers).all():
        problem = f"a word vector needs {width} finite numbers"
        raise InvalidDataError(problem, file=file, line=line, accepted=ACCEPTED)
    return numbers
