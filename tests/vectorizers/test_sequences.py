"""Sequences and wordpieces: numbers of words in reading order."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import vstack

from app.errors import InvalidDataError, InvalidRequestError
from app.vectorizers.base import vectorizer_class
from app.vectorizers.sequences import Sequences
from app.vectorizers.wordpieces import Wordpieces
from tests.learners.neural.made_up import checkpoint

TEXTS = ["the cat saw the Dog", "a dog ran", "", "the cat ran ran ran"]


def rows_of(features: Any) -> list[list[int]]:
    return [row[row > 0].tolist() for row in features.toarray()]


def test_frequent_words_get_low_numbers_and_rare_ones_none() -> None:
    vectorizer = Sequences(min_count=2)
    features = vectorizer.fit_transform(TEXTS)
    assert vectorizer.terms() == ["", "", "ran", "the", "cat", "dog"]
    assert rows_of(features) == [[3, 4, 1, 3, 5], [5, 2], [], [3, 4, 2, 2, 2]]
    assert features.dtype == np.int32
    assert features.shape == (4, vectorizer.n_features)


def test_rows_can_be_picked_and_stacked() -> None:
    features = Sequences(min_count=1, max_length=4).fit_transform(TEXTS)
    again = vstack([features[[3, 0]], features[1:2]], format="csr")
    assert rows_of(again) == [rows_of(features)[i] for i in (3, 0, 1)]
    assert max(len(row) for row in rows_of(features)) == 4


@pytest.mark.parametrize("settings", [{"max_words": 2}, {"min_count": 3}, {"max_length": 2}])
def test_a_rebuilt_vectorizer_gives_the_same_rows(settings: dict[str, int]) -> None:
    vectorizer = Sequences(**settings)
    features = vectorizer.fit_transform(TEXTS)
    again = vectorizer_class("sequences").from_state(vectorizer.state())
    assert (again.transform(TEXTS) != features).nnz == 0
    assert again.state().settings == vectorizer.state().settings


@given(st.text(max_size=60))
def test_spans_point_at_the_words_of_each_position(text: str) -> None:
    vectorizer = Sequences(min_count=1)
    try:
        row = vectorizer.fit_transform([text])
    except InvalidDataError:
        return
    words = [vectorizer.terms()[number] for number in row.data]
    spans = vectorizer.spans(text)
    assert len(spans) == len(words)
    if text.isascii():
        assert [text[a:b].lower() for a, b in spans] == words
    assert all(0 <= a <= b <= len(text) for a, b in spans)


def test_settings_and_texts_that_leave_no_words_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="min_count"):
        Sequences(min_count=0)
    with pytest.raises(InvalidDataError, match="no words are left"):
        Sequences().fit_transform(["", "once"])


@pytest.mark.parametrize("first", ["", "3 2\n"])
def test_word_vectors_are_read_with_and_without_a_first_line(first: str, tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(first + "cat 1 2\nzebra 5 6\nran -1 0.5\n")
    vectorizer = Sequences(vectors=str(file), min_count=2)
    vectorizer.fit_transform(TEXTS)
    vectors = vectorizer.word_vectors()
    assert vectors is not None
    known = dict(zip(vectorizer.terms(), vectors.tolist(), strict=True))
    assert known["cat"] == [1, 2]
    assert known["ran"] == [-1, 0.5]
    assert np.isnan(known["dog"]).all()


@pytest.mark.parametrize("line", ["cat 1", "cat 1 x", "cat 1 nan", "cat 1 2 3"])
def test_a_bad_word_vector_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(f"dog 1 2\n{line}\n")
    with pytest.raises(InvalidDataError, match=r"vectors\.txt:2"):
        Sequences(vectors=str(file), min_count=2).fit_transform(TEXTS)


def test_long_texts_go_on_in_further_windows_with_marks_of_their_own() -> None:
    vectorizer = Wordpieces(checkpoint=checkpoint(), window=6, max_windows=2)
    rows = rows_of(vectorizer.fit_transform(["filler0 " * 7, "filler1", "", "filler2 " * 40]))
    cls, sep, word = 3, 4, 5
    assert rows[0] == [cls, word, word, word, word, sep, cls, word, word, word, sep]
    assert rows[1] == [cls, word + 1, sep]
    assert rows[2] == []
    assert len(rows[3]) == 12
    assert vectorizer.spans("filler1 filler2")[1:3] == [(0, 7), (8, 15)]


def test_wordpieces_are_rebuilt_without_their_folder_and_never_name_it() -> None:
    vectorizer = Wordpieces(checkpoint=checkpoint(), window=8)
    texts = ["word0a filler3", "\ud800 unknown", ""]
    features = vectorizer.fit_transform(texts)
    state = vectorizer.state()
    again = vectorizer_class("wordpieces").from_state(state)
    assert (again.transform(texts) != features).nnz == 0
    assert checkpoint() not in str(state.settings)
    assert again.terms()[features.data[1]] == "word0a"


def test_a_missing_tokenizer_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=r"tokenizer\.json"):
        Wordpieces(checkpoint=str(tmp_path)).fit_transform(["a"])
    with pytest.raises(InvalidRequestError, match="window"):
        Wordpieces(window=2)
