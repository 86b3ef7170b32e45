"""What a rule asks of a text: words, phrases and prefixes, joined by and, or, not and near.

Every pattern is decided in time that grows with the text times the words of the pattern: nothing
is tried twice. Equal patterns compare equal, in whatever order their operands stand.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class TextWords(Protocol):
    """What patterns ask about a text (see document_words.py)."""

    def positions(self, word: str) -> Sequence[int]:
        """Where the word stands, in rising order."""
        ...

    def is_at(self, word: str, position: int) -> bool:
        """Whether this word stands there."""
        ...

    def prefixed(self, prefix: str) -> Sequence[int]:
        """Where words stand that begin so, in rising order."""
        ...


class Span(NamedTuple):
    """Words from `start` on; `end` is exclusive."""

    start: int
    end: int


class Pattern(ABC):
    """A condition on the words of a text."""

    @abstractmethod
    def holds(self, words: TextWords) -> bool:
        """Whether the text is as the pattern says."""

    def triggers(self) -> frozenset[str] | None:
        """Words without one of which it cannot hold; None: no such words are known."""
        return None


class Located(Pattern):
    """A pattern that says where in the text it holds."""

    @abstractmethod
    def spans(self, words: TextWords) -> list[Span]:
        """Everywhere it holds, by rising start."""

    def holds(self, words: TextWords) -> bool:
        """Whether it holds anywhere."""
        return bool(self.spans(words))


@dataclass(frozen=True, slots=True)
class Phrase(Located):
    """Words that follow one another; a single word is a phrase of one."""

    words: tuple[str, ...]

    def spans(self, words: TextWords) -> list[Span]:
        """Every occurrence; they may overlap."""
        rest = list(enumerate(self.words))[1:]
        return [
            Span(start, start + len(self.words))
            for start in words.positions(self.words[0])
            if all(words.is_at(word, start + offset) for offset, word in rest)
        ]

    def triggers(self) -> frozenset[str]:
        """Its first word."""
        return frozenset(self.words[:1])


@dataclass(frozen=True, slots=True)
class Prefix(Located):
    """Any word that begins so."""

    start: str

    def spans(self, words: TextWords) -> list[Span]:
        """Every such word."""
        return [Span(position, position + 1) for position in words.prefixed(self.start)]


@dataclass(frozen=True, slots=True)
class AnyLocated(Located):
    """One of several that have a place, so that it has one itself."""

    operands: frozenset[Located]

    def spans(self, words: TextWords) -> list[Span]:
        """The places of all of them."""
        return sorted({span for operand in self.operands for span in operand.spans(words)})

    def holds(self, words: TextWords) -> bool:
        """Whether one of them holds."""
        return any(operand.holds(words) for operand in self.operands)

    def triggers(self) -> frozenset[str] | None:
        """The words of all of them."""
        return _united(self.operands)


@dataclass(frozen=True, slots=True)
class Near(Pattern):
    """Two that have a place, at most `distance` words from one another, whichever comes first.

    Neighbours are one word apart. The two never share a word: `rate ~5 rate` asks for two of them.
    """

    pair: frozenset[Located]
    """One element where both sides are the same."""
    distance: int

    def holds(self, words: TextWords) -> bool:
        """Whether some of their places are that near."""
        sides = [operand.spans(words) for operand in self.pair]
        first, second = sides[0], sides[-1]
        return self._follows(first, second) or self._follows(second, first)

    def _follows(self, earlier: list[Span], later: list[Span]) -> bool:
        """Whether a later one begins at most `distance` words after the end of an earlier one.

        Ends and starts both rise, so that each is looked at once.
        """
        starts, at = [span.start for span in later], 0
        for end in sorted(span.end for span in earlier):
            while at < len(starts) and starts[at] < end:
                at += 1
            if at < len(starts) and starts[at] - end < self.distance:
                return True
        return False

    def triggers(self) -> frozenset[str] | None:
        """The words of either side."""
        return _fewest(self.pair)


@dataclass(frozen=True, slots=True)
class AllOf(Pattern):
    """Every one of several."""

    operands: frozenset[Pattern]

    def holds(self, words: TextWords) -> bool:
        """Whether all hold."""
        return all(operand.holds(words) for operand in self.operands)

    def triggers(self) -> frozenset[str] | None:
        """The words of one of them."""
        return _fewest(self.operands)


@dataclass(frozen=True, slots=True)
class AnyOf(Pattern):
    """At least one of several."""

    operands: frozenset[Pattern]

    def holds(self, words: TextWords) -> bool:
        """Whether one holds."""
        return any(operand.holds(words) for operand in self.operands)

    def triggers(self) -> frozenset[str] | None:
        """The words of all of them."""
        return _united(self.operands)


@dataclass(frozen=True, slots=True)
class NotThere(Pattern):
    """Where another one does not hold."""

    operand: Pattern

    def holds(self, words: TextWords) -> bool:
        """Whether the other one does not hold."""
        return not self.operand.holds(words)


def _united(operands: frozenset[Pattern] | frozenset[Located]) -> frozenset[str] | None:
    each = [operand.triggers() for operand in operands]
    known = [words for words in each if words is not None]
    return frozenset().union(*known) if len(known) == len(each) else None


def _fewest(operands: frozenset[Pattern] | frozenset[Located]) -> frozenset[str] | None:
    known = [words for words in (operand.triggers() for operand in operands) if words is not None]
    return min(known, key=lambda words: (len(words), sorted(words)), default=None)
