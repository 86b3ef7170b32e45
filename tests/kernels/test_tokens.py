"""Compiled counting beside its plain version, on text that is hard to cut."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.kernels.text import tokens, tokens_plain
from app.kernels.text.analysis import Analysis
from app.kernels.text.characters import SPACE, WORD, classes
from app.kernels.text.counts import Counts
from app.kernels.text.offsets import terms_with_offsets
from app.kernels.vocabulary import hashing, hashing_plain
from app.kernels.vocabulary.vocabulary import Vocabulary

ODD = "aAbBzZ09_ \t\n-.²½İıßẞΣσςéÉ\u0301\u0308ﬁǅ中語𝔘𝟘😀\u00a0\u2028\u200d\x00\x1c\x85\ud800\udfff"
TEXT = st.text(st.sampled_from(ODD), max_size=40) | st.text(max_size=30)
ANALYSES = st.builds(
    lambda analyzer, shortest, more, lowercase, stops: Analysis(
        analyzer,
        shortest,
        shortest + more,
        lowercase,
        frozenset(stops) if analyzer == "word" else frozenset(),
    ),
    st.sampled_from(["word", "char", "char_wb"]),
    st.integers(1, 4),
    st.integers(0, 3),
    st.booleans(),
    st.lists(st.sampled_from(["aa", "ab", "zz", "éé", "中語"]), max_size=3),
)


def assert_same(one: Counts, other: Counts) -> None:
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)
        assert mine.dtype == its.dtype


@settings(max_examples=400, deadline=None)
@given(st.lists(TEXT, max_size=6), st.lists(TEXT, max_size=4), ANALYSES, st.integers(1, 3))
@example(["x" * 70_000, "ab " * 3_000], ["ab ab"], Analysis(), 2)
@example(["a\ud800b ab"], [], Analysis("char", 1, 3), 1)
def test_learning_and_counting_give_what_plain_python_gives(
    texts: list[str], more: list[str], analysis: Analysis, jobs: int
) -> None:
    vocabulary, counts = tokens.learn(texts, analysis, jobs=jobs)
    expected, expected_counts = tokens_plain.learn(texts, analysis)
    assert vocabulary.terms == expected.terms
    np.testing.assert_array_equal(vocabulary.table, expected.table)
    assert_same(counts, expected_counts)
    known = tokens.count_known(more + texts, analysis, vocabulary, jobs=jobs)
    assert_same(known, tokens_plain.count_known(more + texts, analysis, vocabulary))


@settings(max_examples=200, deadline=None)
@given(TEXT, ANALYSES)
def test_terms_with_offsets_are_the_terms_and_stand_where_they_say(
    text: str, analysis: Analysis
) -> None:
    placed = terms_with_offsets(text, analysis)
    assert sorted(place.term for place in placed) == sorted(analysis.terms(text))
    for term, start, end in placed:
        assert 0 <= start <= end <= len(text)
        if analysis.analyzer == "word" and analysis.longest == 1 and "İ" not in text:
            assert analysis.cleaned(text)[start:end] == term


def test_a_letter_that_lower_case_makes_longer_does_not_move_what_follows() -> None:
    text = "İİ ABC İx"
    places = [
        (place.term, text[place.start : place.end])
        for place in terms_with_offsets(text, Analysis())
    ]
    assert ("abc", "ABC") in places


def test_characters_are_what_the_regular_expressions_of_this_python_say() -> None:
    import re

    everything = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for pattern, mark in ((r"\w", WORD), (r"\s", SPACE)):
        expected = [match.start() for match in re.finditer(pattern, everything)]
        assert np.flatnonzero(classes() == mark).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(st.sets(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=60))
def test_both_hash_tables_are_the_same(terms: set[str]) -> None:
    vocabulary = Vocabulary.of(sorted(terms))
    plain = hashing_plain.hash_table(vocabulary.packed, vocabulary.ends)
    np.testing.assert_array_equal(hashing.hash_table(vocabulary.packed, vocabulary.ends), plain)
    assert vocabulary.terms == sorted(terms)


def colliding() -> tuple[str, str]:
    """Two different words with the same 32-bit hash, found by trying."""
    seen: dict[int, str] = {}
    number = 0
    while True:
        word = f"w{number:x}"
        twin = seen.setdefault(hashing_plain.hash_of(word.encode()), word)
        if twin != word:
            return twin, word
        number += 1


def test_words_with_equal_hashes_stay_apart() -> None:
    one, other = colliding()
    vocabulary, counts = tokens.learn([one, f"{other} {other}"], Analysis())
    assert vocabulary.terms == sorted([one, other])
    assert sorted(counts.counts.tolist()) == [1, 2]
    alone = Vocabulary.of([one])
    assert tokens.count_known([other], Analysis(), alone).columns.tolist() == []


@pytest.mark.parametrize(
    "change",
    [
        {"terms_ends": np.array([2, 9], np.uint32)},
        {"terms_ends": np.array([4, 2], np.uint32)},
        {"terms_table": np.zeros(8, np.uint32)},
        {"terms_table": np.arange(1, 9, dtype=np.uint32)},
        {"terms_table": np.array([99, 1, 0, 0, 0, 0, 0, 0], np.uint32)},
    ],
)
def test_a_vocabulary_whose_arrays_do_not_fit_is_refused(change: dict[str, Any]) -> None:
    from app.errors import DamagedArtifactError

    arrays = Vocabulary.of(["ab", "cd"]).arrays()
    assert Vocabulary.from_arrays(arrays).terms == ["ab", "cd"]
    with pytest.raises(DamagedArtifactError):
        Vocabulary.from_arrays({**arrays, **change})
