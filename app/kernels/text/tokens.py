"""Term counts, compiled: texts packed once, then segmented and counted without the GIL."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import ArrayTable, array_table, read_only
from app.kernels.text import tokens_plain
from app.kernels.text.analysis import Analysis
from app.kernels.text.characters import classes, letters
from app.kernels.text.chunks import text_chunks
from app.kernels.text.counting import count_texts
from app.kernels.text.counts import Counts
from app.kernels.text.leads import NO_LEADS, LeadColumns
from app.kernels.text.segment import CHARACTERS, INSIDE_WORDS, WORDS
from app.kernels.text.types import Segmentation, TextTable
from app.kernels.vocabulary.learning import learn_texts, renumbered
from app.kernels.vocabulary.merging import joined_vocabulary
from app.kernels.vocabulary.ordering import gathered
from app.kernels.vocabulary.vocabulary import Vocabulary

PACKED = 8 << 20
"""Characters of texts that are packed, and whose terms are learnt, at a time."""
ANALYZERS = {"word": WORDS, "char": CHARACTERS, "char_wb": INSIDE_WORDS}


def count_known(
    texts: Sequence[str],
    analysis: Analysis,
    vocabulary: Vocabulary,
    *,
    leads: LeadColumns = NO_LEADS,
    jobs: int = 1,
) -> Counts:
    """How often each term of the vocabulary stands in each text; other terms are passed over.

    The terms of first words are counted again in the columns that `leads` gives them.
    """
    if analysis.stem is not None or not texts:
        return tokens_plain.count_known(texts, analysis, vocabulary, leads=leads, jobs=jobs)
    if (analysis, leads) not in vocabulary.tables:
        vocabulary.tables[analysis, leads] = text_table(analysis, vocabulary, leads)
    table = vocabulary.tables[analysis, leads].numbers
    parts: list[Any] = []
    for text, ends in packed_chunks(texts, analysis):
        parts += each_part(partial(_counted, text, ends, table), ends, jobs)
    return _stacked(parts)


def learn(texts: Sequence[str], analysis: Analysis, *, jobs: int = 1) -> tuple[Vocabulary, Counts]:
    """All terms of the texts in code-point order, and how often each stands in each text."""
    if analysis.stem is not None or not texts:
        return tokens_plain.learn(texts, analysis, jobs=jobs)
    table = text_table(analysis, Vocabulary.empty())
    tokens: list[Any] = []
    terms: list[Any] = []
    for text, ends in packed_chunks(texts, analysis):
        work = partial(_learnt, text, ends, table.numbers)
        for sizes, numbers, arena, keys in each_part(work, ends, jobs):
            tokens.append((sizes, numbers))
            terms.append(_packed_terms(arena, keys))
    vocabulary, columns = joined_vocabulary(terms)
    terms.clear()
    return vocabulary, _renumbered(tokens, columns)


def merged(vocabularies: Sequence[Vocabulary]) -> tuple[Vocabulary, list[NDArray[np.int32]]]:
    """The terms of several vocabularies as one, and for each of them the columns of its terms.

    All are in code-point order, so that columns rise wherever they did.
    """
    return joined_vocabulary([_spans(own) for own in vocabularies])


def _spans(vocabulary: Vocabulary) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The packed terms, and where each begins and ends."""
    ends = vocabulary.ends.astype(np.int64)
    starts = np.concatenate(([0], ends))[:-1]
    return vocabulary.packed, np.stack([starts, ends], axis=1)


def _counted(text: Any, ends: Any, table: Any, part: tuple[int, int]) -> Any:
    return count_texts(text, ends, part, table)


def _learnt(text: Any, ends: Any, table: Any, part: tuple[int, int]) -> Any:
    return learn_texts(text, ends, part, table)


def _packed_terms(arena: Any, keys: Any) -> tuple[Any, Any]:
    """The same terms in an arena of their own: the kernel's has whole texts, all but a few."""
    packed_terms, ends = gathered(arena, keys, np.arange(len(keys)))
    return packed_terms, np.stack([ends - (keys[:, 1] - keys[:, 0]), ends], axis=1)


def _renumbered(tokens: list[Any], columns_of: list[NDArray[np.int32]]) -> Counts:
    """The counts of all parts, whose term numbers are given up one part after the other.

    The arrays have room for every token; what is not written to takes no memory.
    """
    n_tokens, at = sum(len(numbers) for _, numbers in tokens), 0
    columns, counts = np.empty(n_tokens, np.int32), np.empty(n_tokens, np.int32)
    row_sizes = []
    tokens.reverse()
    for own in columns_of:
        sizes, some_columns, some_counts = renumbered(*tokens.pop(), own)
        end = at + len(some_columns)
        columns[at:end], counts[at:end] = some_columns, some_counts
        row_sizes.append(sizes)
        at = end
    for array in (columns, counts):
        array.resize(at, refcheck=False)
    ends = np.cumsum(np.concatenate(row_sizes))
    return Counts(np.concatenate(([0], ends)), columns, counts)


def warm() -> None:
    """Compile everything here."""
    analysis = Analysis()
    vocabulary, _ = learn(["ab", "cd"], analysis, jobs=2)
    count_known(["ab"], analysis, vocabulary)


def packed(texts: Sequence[str], analysis: Analysis) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The texts' UTF-8 bytes one after the other, and where each ends.

    ASCII is lower-cased by the kernels, byte by byte; all other text here, since only Python knows
    the rules of Unicode.
    """
    pieces = [
        text.encode() if text.isascii() else analysis.cleaned(text).encode() for text in texts
    ]
    ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    return np.frombuffer(b"".join(pieces), dtype=np.uint8), ends


def packed_chunks(
    texts: Sequence[str], analysis: Analysis
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """The same for as many texts at a time as have about `PACKED` characters."""
    for some in text_chunks(texts, PACKED):
        yield packed(some, analysis)


def text_table(
    analysis: Analysis, vocabulary: Vocabulary, leads: LeadColumns = NO_LEADS
) -> ArrayTable:
    """How texts are segmented, and the terms to look up, as kernels are given them."""
    terms = vocabulary.hashed_terms()
    return array_table(TextTable(segmentation_of(analysis), terms, leads.arrays()))


@cache
def segmentation_of(analysis: Analysis) -> Segmentation:
    """The analysis in numbers and tables."""
    stop_words = Vocabulary.of(sorted(analysis.stop_words))
    return Segmentation(
        ANALYZERS[analysis.analyzer],
        analysis.shortest,
        analysis.longest,
        analysis.lowercase,
        read_only(letters(analysis.lowercase)),
        read_only(classes()),
        stop_words.hashed_terms(),
    )


def each_part(
    work: Callable[[tuple[int, int]], Any], ends: NDArray[np.int64], jobs: int
) -> list[Any]:
    """The results of `jobs` parts of about as many bytes each, in threads; in document order."""
    if jobs <= 1:
        return [work((0, len(ends)))]
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], jobs + 1)[1:-1])
    bounds = [0, *sorted(set(cuts.tolist()) - {0, len(ends)}), len(ends)]
    parts = list(pairwise(bounds))
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))


def _stacked(parts: list[Any]) -> Counts:
    sizes, columns, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Counts(np.concatenate(([0], np.cumsum(sizes))), columns, counts)
