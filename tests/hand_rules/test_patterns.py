"""Patterns: by hand, by a slow literal matcher, and by the number of steps that they take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.hand_rules.document_words import DocumentWords
from app.hand_rules.pattern_syntax import PatternError, parse_pattern
from app.kernels.text.analysis import Analysis
from app.vectorizers.tfidf_settings import TfidfSettings

TEXT = "The Fed cut its interest rate again; farmers sold wheat. Rate cuts help."
ENGLISH = TfidfSettings(stop_words="english", stemmer="english").analysis()


def holds(when: str, text: str, analysis: Analysis = Analysis()) -> bool:  # noqa: B008 - frozen
    return parse_pattern(when, analysis).holds(DocumentWords.of(text, analysis))


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("wheat", True),
        ("WHEAT", True),
        ("whea", False),
        ("whea*", True),
        ('"interest rate"', True),
        ('"rate interest"', False),
        ("interest-rate", True),
        ("wheat & corn", False),
        ("wheat | corn", True),
        ("!corn", True),
        ("!!wheat", True),
        ("wheat & !farm*", False),
        ("corn & wheat | fed", True),
        ("corn & (wheat | fed)", False),
        ("!corn & wheat", True),
        ("!(corn | wheat)", False),
        ("interest ~1 rate", True),
        ("rate ~1 interest", True),
        ("cut ~2 rate", False),
        ("cut ~3 rate", True),
        ('cut ~2 "interest rate"', True),
        ("rate ~9 rate", True),
        ("wheat ~9 wheat", False),
        ("(corn | wheat) ~1 (rate | sold)", True),
        ("farm* ~1 sold", True),
        ("!cut ~1 fed", False),
    ],
)
def test_a_pattern_holds_as_it_reads(when: str, expected: bool) -> None:
    assert holds(when, TEXT) is expected


@pytest.mark.parametrize(
    ("when", "text", "expected"),
    [
        ("straße", "Die STRASSE, die Straße", True),
        ("ÉCOLE*", "les écoles", True),
        ("中文", "学 中文 吧", True),
        ("цен*", "Цены растут", True),
        ("naïve", "naive", False),
        ('"ﬁnal offer"', "a ﬁnal offer", True),
    ],
)
def test_words_are_unicode_words_in_lower_case(when: str, text: str, expected: bool) -> None:
    assert holds(when, text) is expected


def test_words_are_stemmed_and_stop_words_dropped_as_the_tokenizer_does() -> None:
    assert holds("walk", "They walked on", ENGLISH)
    assert holds('"bank of england"', "Banks, England", ENGLISH)
    assert not holds('"bank of england"', "Banks, England")
    assert holds("walki*", "walking", ENGLISH)  # as written, not as stemmed
    assert not holds("walki*", "walked", ENGLISH)
    with pytest.raises(PatternError, match="tokenizer drops this"):
        parse_pattern("the", ENGLISH)


@pytest.mark.parametrize(
    ("when", "offset", "problem"),
    [
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("wheat &", 7, "missing here"),
        ("wheat corn", 6, "in quotes"),
        ("wheat AND corn", 6, "written &"),
        ("(wheat | corn", 0, "never closed"),
        ("wheat)", 5, "closes nothing"),
        ("()", 1, "missing here"),
        ('wheat & "farm', 8, "quote is never closed"),
        ('""', 0, "tokenizer drops"),
        ("a & wheat", 0, "tokenizer drops"),
        ("wheat ~ corn", 6, "largest number of words"),
        ("wheat ~0 corn", 6, "largest number of words"),
        ("wheat ~101 corn", 6, "largest number of words"),
        ("wheat ~5 corn ~5 rye", 14, "between two words only"),
        ("(wheat & rye) ~5 corn", 0, "no place in the text"),
        ("wheat ~5 (!corn)", 9, "no place in the text"),
        ("wheat & f*", 8, "beginning of one word"),
        ("wheat & on-l*", 8, "beginning of one word"),
        ("wh*at", 2, "ends a word"),
        ('"whe* corn"', 4, "ends a word"),
        ("(" * 30 + "wheat" + ")" * 30, 20, "nested more than 20"),
        (" | ".join(["wheat"] * 201), 0, "201 words"),
        ("wheat " * 1000, 0, "more than 4000 characters"),
        ('"' + "wheat " * 21 + '"', 0, "more than 20 words"),
    ],
)
def test_what_cannot_be_read_or_would_take_long_is_refused_where_it_stands(
    when: str, offset: int, problem: str
) -> None:
    with pytest.raises(PatternError, match=problem) as refused:
        parse_pattern(when, Analysis())
    assert refused.value.offset == offset


WORDS = ["aa", "ab", "abc", "ba", "bb"]
LEAVES = st.one_of(
    st.sampled_from(WORDS).map(lambda word: ("word", word)),
    st.sampled_from(["aa", "ab", "ba"]).map(lambda start: ("prefix", start)),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(lambda ws: ("phrase", ws)),
)
LOCATED = st.one_of(LEAVES, st.tuples(st.just("or"), LEAVES, LEAVES))
TREES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(LOCATED, st.tuples(st.just("near"), LOCATED, LOCATED, st.integers(1, 4))),
    lambda below: st.one_of(
        st.tuples(st.sampled_from(["or", "and"]), below, below), st.tuples(st.just("not"), below)
    ),
    max_leaves=6,
)


def spelled(tree: Any) -> str:
    kind, *operands = tree
    if kind == "word":
        return str(operands[0])
    if kind == "prefix":
        return f"{operands[0]}*"
    if kind == "phrase":
        return f'"{" ".join(operands[0])}"'
    if kind == "not":
        return f"!({spelled(operands[0])})"
    symbol = {"or": "|", "and": "&"}.get(kind) or f"~{operands[2]}"
    return f"({spelled(operands[0])}) {symbol} ({spelled(operands[1])})"


def literal_places(tree: Any, words: Sequence[str]) -> list[tuple[int, int]]:
    """First and last word of everywhere that it holds, by trying every place."""
    kind, *operands = tree
    spans = [(i, j) for i in range(len(words)) for j in range(i, len(words))]
    if kind == "word":
        return [(i, j) for i, j in spans if i == j and words[i] == operands[0]]
    if kind == "prefix":
        return [(i, j) for i, j in spans if i == j and words[i].startswith(operands[0])]
    if kind == "phrase":
        return [(i, j) for i, j in spans if list(words[i : j + 1]) == operands[0]]
    return [span for operand in operands for span in literal_places(operand, words)]


def literally_holds(tree: Any, words: Sequence[str]) -> bool:
    kind, *operands = tree
    if kind == "not":
        return not literally_holds(operands[0], words)
    if kind in ("or", "and"):
        both = [literally_holds(operand, words) for operand in operands]
        return any(both) if kind == "or" else all(both)
    if kind != "near":
        return bool(literal_places(tree, words))
    left, right = (literal_places(operand, words) for operand in operands[:2])
    return any(
        1 <= start - end <= operands[2]
        for one, other in ((left, right), (right, left))
        for _, end in one
        for start, _ in other
    )


@settings(max_examples=300, deadline=None)
@given(TREES, st.lists(st.sampled_from(WORDS), max_size=12))
def test_patterns_hold_where_a_literal_matcher_says_so(tree: Any, words: list[str]) -> None:
    assert holds(spelled(tree), " ".join(words)) == literally_holds(tree, words)


@settings(max_examples=200, deadline=None)
@given(TREES, st.lists(st.sampled_from(WORDS), max_size=8))
def test_a_pattern_never_holds_without_one_of_its_triggers(tree: Any, words: list[str]) -> None:
    triggers = parse_pattern(spelled(tree), Analysis()).triggers()
    if triggers is not None and not triggers & set(words):
        assert not literally_holds(tree, words)


@dataclass
class CountedWords:
    """Words that count how many positions were given out and looked at."""

    words: DocumentWords
    steps: list[int] = field(default_factory=lambda: [0])

    def positions(self, word: str) -> Sequence[int]:
        found = self.words.positions(word)
        self.steps[0] += 1 + len(found)
        return found

    def is_at(self, word: str, position: int) -> bool:
        self.steps[0] += 1
        return self.words.is_at(word, position)

    def prefixed(self, prefix: str) -> Sequence[int]:
        found = self.words.prefixed(prefix)
        self.steps[0] += 1 + len(found)
        return found


HARD = [
    "aa ~100 zz",
    '"aa aa aa aa aa aa aa aa aa zz"',
    "(aa | aa* | ab) ~1 (zz | zz*)",
    "!(" + " | ".join(f'"aa aa zz{i}"' for i in range(50)) + ") & " + "aa*",
    " & ".join(f"!(aa ~{n} zz)" for n in range(1, 40)),
]


@pytest.mark.parametrize("when", HARD)
def test_steps_grow_with_the_text_and_not_faster(when: str) -> None:
    pattern, steps = parse_pattern(when, Analysis()), []
    for length in (1000, 10_000):
        counted = CountedWords(DocumentWords(["aa"] * length))
        pattern.holds(counted)
        steps.append(counted.steps[0])
    assert steps[1] <= 11 * steps[0]
    assert steps[1] <= 10_000 * 200
