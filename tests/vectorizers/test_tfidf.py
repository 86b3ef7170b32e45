"""Tf-idf beside scikit-learn's: the same vocabulary and the same matrix, whatever the text."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from app.errors import InvalidDataError, InvalidRequestError
from app.vectorizers.tfidf import Tfidf

ODD = "aAbBzZ09_ \t\n-.'²½İıßẞΣσςéÉé\u0301\u0308ﬁǅ中語𝔘𝟘😀\u00a0\u2028\u200d\x00\x1c\x85"
TEXT = st.text(st.sampled_from(ODD), max_size=40) | st.text(max_size=20)
TEXTS = st.lists(TEXT, min_size=1, max_size=6)

OPTIONS: list[dict[str, Any]] = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (3, 5)},
    {"analyzer": "char_wb", "ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (3, 5)},
    {"lowercase": False},
    {"stop_words": ["aa", "ab", "zz"], "ngram_range": (1, 2)},
    {"min_df": 2},
    {"max_df": 0.5},
    {"min_df": 0.3, "max_df": 3},
    {"max_features": 3},
    {"binary": True},
    {"scheme": "log"},
]


def peer_of(options: dict[str, Any]) -> TfidfVectorizer:
    same = {name: value for name, value in options.items() if name != "scheme"}
    return TfidfVectorizer(**same, sublinear_tf=options.get("scheme") == "log")


@pytest.fixture(params=["auto", "plain"])
def both_paths(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LABELSERVE_KERNELS", request.param)
    return str(request.param)


def assert_same_as_peer(texts: Sequence[str], more: Sequence[str], options: dict[str, Any]) -> None:
    ours, peer = Tfidf(**options), peer_of(options)
    try:
        expected = peer.fit_transform(texts)
    except ValueError:
        with pytest.raises((InvalidDataError, InvalidRequestError)):
            ours.fit_transform(texts)
        return
    rows = ours.fit_transform(texts, jobs=2)
    assert list(ours.terms()) == list(peer.get_feature_names_out())
    assert rows.dtype == np.float32
    assert rows.has_canonical_format
    np.testing.assert_array_equal(rows.toarray(), expected.toarray().astype(np.float32))
    assert_same_rows(ours.transform(texts), rows)
    again = Tfidf.from_state(ours.state())
    expected = peer.transform([*texts, *more]).toarray().astype(np.float32)
    np.testing.assert_array_equal(again.transform([*texts, *more], jobs=2).toarray(), expected)


def assert_same_rows(one: Any, other: Any) -> None:
    assert one.shape == other.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.usefixtures("both_paths")
def test_every_option_gives_the_matrix_of_scikit_learn(options: dict[str, Any]) -> None:
    @settings(max_examples=60, deadline=None)
    @given(TEXTS, TEXTS)
    def holds(texts: list[str], more: list[str]) -> None:
        assert_same_as_peer(texts, more, options)

    holds()
