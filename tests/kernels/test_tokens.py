"""Compiled counting beside its plain version, on text that is hard to cut."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.kernels.text import tokens, tokens_plain
from app.kernels.text.analysis import Analysis
from app.kernels.text.characters import SPACE, WORD, classes
from app.kernels.text.counts import Counts, kept
from app.kernels.text.leads import LeadColumns
from app.kernels.text.offsets import terms_with_offsets
from app.kernels.vocabulary import hashing, hashing_plain
from app.kernels.vocabulary.vocabulary import Vocabulary

ODD = "aAbBzZ09_ \t\n-.²½İıßẞΣσςéÉ\u0301\u0308ﬁǅ中語𝔘𝟘😀\u00a0\u2028\u200d\x00\x1c\x85\ud800\udfff"
STOP_WORDS = ["aa", "ab", "zz", "éé", "中語"]
WORDS = st.sampled_from([*STOP_WORDS, "AB", "ba", "x", "zebra"])
SENTENCE = st.lists(WORDS, max_size=12).map(" ".join)
TEXT = st.text(st.sampled_from(ODD), max_size=40) | st.text(max_size=30) | SENTENCE
SEVERAL_STRIDES = " ".join(["aa", "ab", "ba"][number % 3] for number in range(700))
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
    st.lists(st.sampled_from(STOP_WORDS), max_size=3),
)


def assert_same(one: Counts, other: Counts) -> None:
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)
        assert mine.dtype == its.dtype


@settings(max_examples=400, deadline=None)
@given(st.lists(TEXT, max_size=6), st.lists(TEXT, max_size=4), ANALYSES, st.integers(1, 3))
@example(["x" * 70_000, "ab " * 3_000], ["ab ab"], Analysis(), 2)
@example(["a\ud800b ab"], [], Analysis("char", 1, 3), 1)
@example([SEVERAL_STRIDES], [SEVERAL_STRIDES[4:]], Analysis("word", 2, 3), 1)
@example([SEVERAL_STRIDES], [SEVERAL_STRIDES[4:]], Analysis("char", 2, 5), 1)
@example([SEVERAL_STRIDES.replace(" ", "")], ["aaab"], Analysis("char_wb", 2, 5), 1)
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


@settings(max_examples=100, deadline=None)
@given(
    st.lists(TEXT, min_size=1, max_size=5),
    st.sets(st.integers(1, 8), min_size=1, max_size=3),
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
    st.lists(st.sampled_from(STOP_WORDS), max_size=3),
    st.randoms(use_true_random=False),
)
@example([SEVERAL_STRIDES], {300, 600}, (1, 2), [], Random(1))
def test_first_words_are_counted_as_plain_python_counts_them(
    texts: list[str], lengths: set[int], sizes: tuple[int, int], stops: list[str], random: Any
) -> None:
    analysis = Analysis("word", *sizes, stop_words=frozenset(stops))
    vocabulary, counts = tokens.learn(texts, analysis)
    marks = [[random.random() < 0.8 for _ in vocabulary.terms] for _ in lengths]
    has_column = np.array(marks, np.bool_).reshape(len(lengths), len(vocabulary))
    leads = LeadColumns.of(sorted(lengths), has_column)
    found = tokens.count_known(texts, analysis, vocabulary, leads=leads, jobs=2)
    assert_same(found, tokens_plain.count_known(texts, analysis, vocabulary, leads=leads))
    is_term = np.arange(len(vocabulary) + has_column.sum()) < len(vocabulary)
    assert_same(kept(found, is_term), counts)


def test_columns_of_a_large_vocabulary_come_in_rising_order() -> None:
    """Three bytes of column numbers take part in the sort."""
    terms = sorted(f"w{number:x}" for number in range(70_000))
    vocabulary = Vocabulary.of(terms)
    chosen = [69_999, 65_537, 65_536, 65_535, 256, 255, 1, 0]
    text = " ".join(terms[column] for column in [*chosen, 65_536])
    counts = tokens.count_known([text], Analysis(), vocabulary)
    assert_same(counts, tokens_plain.count_known([text], Analysis(), vocabulary))
    assert counts.columns.tolist() == chosen[::-1]
    assert counts.counts.tolist() == [1, 1, 1, 1, 1, 2, 1, 1]


@pytest.mark.parametrize("text", ["ab", "ab cd", "cd ab", "cd ab.", "AB", "cd ab cd", "ab ab"])
def test_a_stop_word_is_passed_over_wherever_it_stands(text: str) -> None:
    analysis = Analysis(stop_words=frozenset({"ab"}))
    vocabulary, counts = tokens.learn([text, "xy"], analysis)
    assert vocabulary.terms == sorted({"cd", "xy"} & {*text.lower().split(), "xy"})
    assert counts.counts[: counts.indptr[1]].tolist() == [text.count("cd")] * ("cd" in text)


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


@pytest.mark.parametrize("kernel", [tokens, tokens_plain])
def test_what_was_learnt_apart_is_merged_to_what_is_learnt_together(kernel: Any) -> None:
    parts = [["b a a", ""], ["c ä b b"], [""], ["zz a 日本", "a"]]
    learnt = [kernel.learn(part, Analysis(longest=2))[0] for part in parts]
    vocabulary, columns = kernel.merged(learnt)
    every = [text for part in parts for text in part]
    assert vocabulary.terms == kernel.learn(every, Analysis(longest=2))[0].terms
    for own, places in zip(learnt, columns, strict=True):
        assert [vocabulary.terms[place] for place in places] == own.terms
