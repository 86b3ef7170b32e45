"""Text → terms with the places where they stand in the text as it was sent."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.kernels.text.analysis import WIDE_SPACES, WORDS, Analysis


class Place(NamedTuple):
    """A term, or a unit that terms are made of, with its code points; `end` is exclusive."""

    term: str
    start: int
    end: int


def placed_terms(text: str, analysis: Analysis) -> list[Place]:
    """The terms of `analysis.terms(text)`, each with its place in the text.

    >>> placed_terms("The İ Box", Analysis())
    [Place(term='the', start=0, end=3), Place(term='box', start=6, end=9)]
    """
    letters = _letters(text, analysis)
    cleaned = "".join(letter.term for letter in letters)
    if analysis.analyzer == "word":
        return list(_ngrams(_words(cleaned, letters, analysis), analysis, " "))
    if analysis.analyzer == "char":
        return list(_ngrams(_one_blank(cleaned, letters), analysis, ""))
    words = (_padded(letters[m.start() : m.end()]) for m in re.finditer(r"\S+", cleaned))
    return [place for word in words for place in _inside(word, analysis)]


def _letters(text: str, analysis: Analysis) -> list[Place]:
    """The cleaned text letter by letter: one letter may become two (İ), never the other way."""
    cleaned = analysis.cleaned(text)
    if len(cleaned) == len(text):
        return [Place(letter, i, i + 1) for i, letter in enumerate(cleaned)]
    origins = [i for i, letter in enumerate(text) for _ in letter.lower()]
    return [Place(letter, i, i + 1) for letter, i in zip(cleaned, origins, strict=True)]


def _words(cleaned: str, letters: Sequence[Place], analysis: Analysis) -> list[Place]:
    found = WORDS.finditer(cleaned)
    kept = (match for match in found if match.group() not in analysis.stop_words)
    stem = analysis.stem or str
    return [
        Place(stem(match.group()), letters[match.start()].start, letters[match.end() - 1].end)
        for match in kept
    ]


def _one_blank(cleaned: str, letters: list[Place]) -> list[Place]:
    """The letters with white space of two or more in a row as one blank."""
    kept, at = [], 0
    for match in WIDE_SPACES.finditer(cleaned):
        blank = Place(" ", letters[match.start()].start, letters[match.end() - 1].end)
        kept += [*letters[at : match.start()], blank]
        at = match.end()
    return kept + letters[at:]


def _padded(word: list[Place]) -> list[Place]:
    start, end = word[0].start, word[-1].end
    return [Place(" ", start, start), *word, Place(" ", end, end)]


def _inside(word: list[Place], analysis: Analysis) -> Iterator[Place]:
    if len(word) < analysis.shortest:
        yield _joined(word, "")
    yield from _ngrams(word, analysis, "")


def _ngrams(units: list[Place], analysis: Analysis, joiner: str) -> Iterator[Place]:
    for n in range(analysis.shortest, analysis.longest + 1):
        for i in range(len(units) - n + 1):
            yield _joined(units[i : i + n], joiner)


def _joined(units: list[Place], joiner: str) -> Place:
    return Place(joiner.join(unit.term for unit in units), units[0].start, units[-1].end)
