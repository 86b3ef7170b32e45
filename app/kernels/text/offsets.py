"""Text → terms with their offsets in the text as it was sent."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.kernels.text.analysis import WIDE_SPACES, WORDS, Analysis


class TermOffset(NamedTuple):
    """A term, or a token that terms are made of, and its code points; `end` is exclusive."""

    term: str
    start: int
    end: int


def terms_with_offsets(
    text: str, analysis: Analysis, n_words: int | None = None
) -> list[TermOffset]:
    """The terms of `analysis.terms(text)`, each with its offsets in the text.

    With a number of words, the terms of `analysis.lead_terms(text, n_words)`.

    >>> terms_with_offsets("The İ Box", Analysis())
    [TermOffset(term='the', start=0, end=3), TermOffset(term='box', start=6, end=9)]
    """
    characters = _characters(text, analysis)
    cleaned = "".join(character.term for character in characters)
    if analysis.analyzer == "word":
        lead = _words(cleaned, characters, analysis)[:n_words]
        return list(_ngrams(lead, analysis, " "))
    if analysis.analyzer == "char":
        return list(_ngrams(_one_blank(cleaned, characters), analysis, ""))
    words = (_padded(characters[m.start() : m.end()]) for m in re.finditer(r"\S+", cleaned))
    return [term for word in words for term in _padded_ngrams(word, analysis)]


def _characters(text: str, analysis: Analysis) -> list[TermOffset]:
    """The cleaned text by character: lower-casing may make two of one (İ), never one of two."""
    cleaned = analysis.cleaned(text)
    if len(cleaned) == len(text):
        return [TermOffset(character, i, i + 1) for i, character in enumerate(cleaned)]
    origins = [i for i, character in enumerate(text) for _ in character.lower()]
    return [TermOffset(character, i, i + 1) for character, i in zip(cleaned, origins, strict=True)]


def _words(cleaned: str, characters: Sequence[TermOffset], analysis: Analysis) -> list[TermOffset]:
    kept = (word for word in WORDS.finditer(cleaned) if word.group() not in analysis.stop_words)
    stem = analysis.stem or str
    return [
        TermOffset(
            stem(word.group()), characters[word.start()].start, characters[word.end() - 1].end
        )
        for word in kept
    ]


def _one_blank(cleaned: str, characters: list[TermOffset]) -> list[TermOffset]:
    """The characters with white space of two or more in a row as one blank."""
    kept, at = [], 0
    for match in WIDE_SPACES.finditer(cleaned):
        blank = TermOffset(" ", characters[match.start()].start, characters[match.end() - 1].end)
        kept += [*characters[at : match.start()], blank]
        at = match.end()
    return kept + characters[at:]


def _padded(word: list[TermOffset]) -> list[TermOffset]:
    start, end = word[0].start, word[-1].end
    return [TermOffset(" ", start, start), *word, TermOffset(" ", end, end)]


def _padded_ngrams(word: list[TermOffset], analysis: Analysis) -> Iterator[TermOffset]:
    if len(word) < analysis.shortest:
        yield _spanning(word, "")
    yield from _ngrams(word, analysis, "")


def _ngrams(tokens: list[TermOffset], analysis: Analysis, joiner: str) -> Iterator[TermOffset]:
    for n in range(analysis.shortest, analysis.longest + 1):
        for i in range(len(tokens) - n + 1):
            yield _spanning(tokens[i : i + n], joiner)


def _spanning(tokens: list[TermOffset], joiner: str) -> TermOffset:
    return TermOffset(joiner.join(token.term for token in tokens), tokens[0].start, tokens[-1].end)
