"""Term counts, compiled: texts packed once, cut, hashed and counted without the GIL."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels import tokens_plain
from app.kernels.analysis import Analysis
from app.kernels.characters import classes, letters
from app.kernels.counting import count_part
from app.kernels.counts import Counts
from app.kernels.forms import Cutting, fixed
from app.kernels.learning import learn_part, renumbered
from app.kernels.units import CHARACTERS, INSIDE_WORDS, WORDS
from app.kernels.vocabulary import Vocabulary

ANALYZERS = {"word": WORDS, "char": CHARACTERS, "char_wb": INSIDE_WORDS}


def count_known(
    texts: Sequence[str], analysis: Analysis, vocabulary: Vocabulary, *, jobs: int = 1
) -> Counts:
    """How often each term of the vocabulary stands in each text; other terms are passed over."""
    if analysis.stem is not None or not texts:
        return tokens_plain.count_known(texts, analysis, vocabulary, jobs=jobs)
    text, ends = packed(texts, analysis)
    cutting, terms = cutting_of(analysis), vocabulary.form()
    return _joined(each_part(lambda part: count_part(text, ends, part, cutting, terms), ends, jobs))


def learn(texts: Sequence[str], analysis: Analysis, *, jobs: int = 1) -> tuple[Vocabulary, Counts]:
    """All terms of the texts in code-point order, and how often each stands in each text."""
    if analysis.stem is not None or not texts:
        return tokens_plain.learn(texts, analysis, jobs=jobs)
    text, ends = packed(texts, analysis)
    cutting = cutting_of(analysis)
    parts = each_part(lambda part: learn_part(text, ends, part, cutting), ends, jobs)
    found = [_terms(arena, keys) for _, _, arena, keys in parts]
    terms = sorted(set().union(*found))
    column_of = {term: column for column, term in enumerate(terms)}
    columns = [np.array([column_of[term] for term in part], dtype=np.int32) for part in found]
    rows = [
        renumbered(sizes, numbers, part)
        for (sizes, numbers, *_), part in zip(parts, columns, strict=True)
    ]
    return Vocabulary.of_bytes(terms), _joined(rows)


def warm() -> None:
    """Compile everything here."""
    analysis = Analysis()
    vocabulary, _ = learn(["ab"], analysis)
    count_known(["ab"], analysis, vocabulary)


def packed(texts: Sequence[str], analysis: Analysis) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The texts' UTF-8 bytes end to end, and where each ends.

    ASCII is left as it is and lower-cased on the way; only Python knows how to lower the rest.
    """
    pieces = [
        text.encode() if text.isascii() else analysis.cleaned(text).encode() for text in texts
    ]
    ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    return np.frombuffer(b"".join(pieces), dtype=np.uint8), ends


@cache
def cutting_of(analysis: Analysis) -> Cutting:
    """The analysis in numbers and tables."""
    stops = Vocabulary.of(sorted(analysis.stop_words))
    return Cutting(
        ANALYZERS[analysis.analyzer],
        analysis.shortest,
        analysis.longest,
        analysis.lowercase,
        fixed(letters(analysis.lowercase)),
        fixed(classes()),
        stops.form(),
    )


def each_part(
    work: Callable[[tuple[int, int]], Any], ends: NDArray[np.int64], jobs: int
) -> list[Any]:
    """The work of each of `jobs` parts with about as many bytes; parts are in document order."""
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], max(jobs, 1) + 1)[1:-1])
    bounds = [0, *sorted(set(cuts.tolist()) - {0, len(ends)}), len(ends)]
    parts = list(pairwise(bounds))
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))


def _terms(arena: NDArray[np.uint8], keys: NDArray[np.int64]) -> list[bytes]:
    letters_of_all = arena.tobytes()
    return [letters_of_all[begin:end] for begin, end in keys.tolist()]


def _joined(parts: list[Any]) -> Counts:
    sizes, columns, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Counts(np.concatenate(([0], np.cumsum(sizes))), columns, counts)
