"""`wheat & (farm | commodity*) & !"export tax"` → a pattern, or what is wrong with it and where."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.hand_rules.patterns import (
    AllOf,
    AnyLocated,
    AnyOf,
    Located,
    Near,
    NotThere,
    Pattern,
    Phrase,
    Prefix,
)
from app.kernels.text.analysis import Analysis

TOKEN = re.compile(
    r"""\s*(?:(?P<near>~[0-9]*) | (?P<symbol>[&|!()]) | (?P<phrase>"[^"]*"?) | """
    r"""(?P<word>[^\s&|!()"~]+) | (?P<end>$))""",
    re.VERBOSE,
)
WORD_CHARACTERS = re.compile(r"\w+")
MOST_CHARACTERS, MOST_WORDS, LONGEST_PHRASE, DEEPEST, FARTHEST = 4000, 200, 20, 20, 100
SHORTEST_PREFIX = 2
OPERAND = 'a word, a "phrase", a prefix*, ! or ('
OPERATOR = "&, |, ~N or the end"
SPELLED_OUT = {"and": "&", "or": "|", "not": "!"}


class PatternError(ValueError):
    """A pattern that cannot be read: what is wrong, from which character on, what would be right.

    A pattern that would take long to match is refused so, too.
    """

    def __init__(self, problem: str, offset: int, *, found: str = "", accepted: str = "") -> None:
        self.offset, self.found, self.accepted = offset, found, accepted
        super().__init__(problem)


class Token(NamedTuple):
    """A piece of a pattern as written, and where it begins."""

    kind: str
    text: str
    offset: int


def parse_pattern(when: str, analysis: Analysis) -> Pattern:
    """The pattern, in words as the tokenizer sees them; a PatternError says what is wrong."""
    if not when.strip():
        raise PatternError("the pattern is empty", 0, accepted=OPERAND)
    if len(when) > MOST_CHARACTERS:
        raise PatternError(
            f"the pattern has more than {MOST_CHARACTERS} characters: make several rules of it", 0
        )
    tokens = _tokens(when)
    n_words = sum(token.kind in ("word", "phrase") for token in tokens)
    if n_words > MOST_WORDS:
        raise PatternError(
            f"the pattern has {n_words} words and phrases, more than the {MOST_WORDS} that are "
            "matched at once: make several rules of it",
            0,
        )
    return _Parser(tokens, analysis).whole()


def _tokens(when: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while not tokens or tokens[-1].kind != "end":
        match = TOKEN.match(when, at)
        assert match is not None and match.lastgroup is not None  # noqa: S101, PT018 - total
        kind = match.lastgroup
        tokens.append(Token(kind, match[kind], match.start(kind)))
        at = match.end()
    return tokens


class _Parser:
    """Recursive descent: `|` binds least, then `&`, then `!`, then `~`."""

    def __init__(self, tokens: Sequence[Token], analysis: Analysis) -> None:
        self._tokens, self._analysis, self._at, self._depth = tokens, analysis, 0, 0

    def whole(self) -> Pattern:
        pattern = self._any_of()
        if self._next.kind != "end":
            raise self._two_in_a_row(self._next)
        return pattern

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _taken(self, text: str) -> bool:
        """Whether this symbol comes next; it is passed then."""
        is_next = self._next.kind == "symbol" and self._next.text == text
        self._at += is_next
        return is_next

    def _any_of(self) -> Pattern:
        operands = self._separated("|", self._all_of)
        located = frozenset(operand for operand in operands if isinstance(operand, Located))
        if len(operands) == 1:
            return operands[0]
        if len(located) == len(set(operands)):
            return AnyLocated(located)
        return AnyOf(frozenset(operands))

    def _all_of(self) -> Pattern:
        operands = self._separated("&", self._negated)
        return operands[0] if len(operands) == 1 else AllOf(frozenset(operands))

    def _separated(self, symbol: str, operand: Callable[[], Pattern]) -> list[Pattern]:
        operands = [operand()]
        while self._taken(symbol):
            operands.append(operand())
        return operands

    def _negated(self) -> Pattern:
        token = self._next
        if self._taken("!"):
            return NotThere(self._nested(token, self._negated))
        return self._near()

    def _near(self) -> Pattern:
        token = self._next
        left = self._operand()
        near = self._next
        if near.kind != "near":
            return left
        self._at += 1
        distance, other = _distance(near), self._next
        sides = _located(left, token), _located(self._operand(), other)
        if self._next.kind == "near":
            raise PatternError(
                "~ stands between two words only: write a ~5 b & b ~5 c", self._next.offset
            )
        return Near(frozenset(sides), distance)

    def _operand(self) -> Pattern:
        token = self._next
        if self._taken("("):
            pattern = self._nested(token, self._any_of)
            if not self._taken(")"):
                raise self._unclosed(token)
            return pattern
        if token.kind not in ("word", "phrase"):
            found = "the end of the pattern" if token.kind == "end" else token.text
            raise PatternError(
                "something is missing here", token.offset, found=found, accepted=OPERAND
            )
        self._at += 1
        return _leaf(token, self._analysis)

    def _nested(self, token: Token, operand: Callable[[], Pattern]) -> Pattern:
        self._depth += 1
        if self._depth > DEEPEST:
            problem = f"the pattern is nested more than {DEEPEST} deep"
            raise PatternError(problem, token.offset, found=token.text)
        pattern = operand()
        self._depth -= 1
        return pattern

    def _unclosed(self, opened: Token) -> PatternError:
        if self._next.kind == "end":
            return PatternError("this ( is never closed", opened.offset, accepted=")")
        return self._two_in_a_row(self._next)

    def _two_in_a_row(self, token: Token) -> PatternError:
        if token.text == ")":
            return PatternError("this ) closes nothing", token.offset)
        problem = "an operator is missing before this"
        symbol = SPELLED_OUT.get(token.text.lower())
        if symbol is not None:
            problem += f'; "{token.text.lower()}" is written {symbol}'
        elif token.kind == "word":
            problem += "; words that follow one another stand in quotes"
        return PatternError(problem, token.offset, found=token.text, accepted=OPERATOR)


def _distance(near: Token) -> int:
    digits = near.text[1:]
    if not digits or not 1 <= int(digits[:9]) <= FARTHEST:
        problem = "~ takes the largest number of words between the two"
        raise PatternError(
            problem, near.offset, found=near.text, accepted=f"~1 (neighbours) to ~{FARTHEST}"
        )
    return int(digits)


def _located(pattern: Pattern, token: Token) -> Located:
    if isinstance(pattern, Located):
        return pattern
    problem = "what stands beside ~ has no place in the text"
    accepted = 'a word, a "phrase", a prefix*, or (a | b) of such'
    raise PatternError(problem, token.offset, found=token.text, accepted=accepted)


def _leaf(token: Token, analysis: Analysis) -> Located:
    text, is_phrase = token.text, token.kind == "phrase"
    if is_phrase and (len(text) < 2 or not text.endswith('"')):
        raise PatternError("this quote is never closed", token.offset, accepted='"')
    if not is_phrase and text.endswith("*"):
        return _prefix(token, analysis)
    if "*" in text:
        problem = "* ends a word that is not in quotes"
        raise PatternError(problem, token.offset + text.index("*"), accepted="farm*")
    words = analysis.stemmed(analysis.words(text))
    if not words:
        raise PatternError(
            "the tokenizer drops this (words of one character, stop words), so that no text has it",
            token.offset,
            found=text,
        )
    if len(words) > LONGEST_PHRASE:
        problem = f"a phrase of more than {LONGEST_PHRASE} words takes too long to match"
        raise PatternError(problem, token.offset, found=text)
    return Phrase(tuple(words))


def _prefix(token: Token, analysis: Analysis) -> Prefix:
    start = analysis.cleaned(token.text[:-1])
    if len(start) < SHORTEST_PREFIX or not WORD_CHARACTERS.fullmatch(start):
        raise PatternError(
            "a prefix is the beginning of one word",
            token.offset,
            found=token.text,
            accepted=f"{SHORTEST_PREFIX} or more letters, digits or _ before the *",
        )
    return Prefix(start)
