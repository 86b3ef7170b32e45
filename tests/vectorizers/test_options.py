"""Settings that scikit-learn does not have, wrong settings, damaged states."""

from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from app.errors import DamagedArtifactError, InvalidDataError, InvalidRequestError
from app.vectorizers.stop_words import ENGLISH
from app.vectorizers.tfidf import Tfidf

TEXTS = ["aa aa aa bb", "bb cc", "aa dd dd"]


@pytest.fixture(params=["auto", "plain"], autouse=True)
def both_paths(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", request.param)


@pytest.mark.parametrize(
    ("scheme", "aa", "bb"),
    [("ntc", 3.0, 1.0), ("ltc", 1 + log(3), 1.0), ("atc", 1.0, 0.5 + 0.5 / 3)],
)
def test_smart_schemes_are_their_formulas(scheme: str, aa: float, bb: float) -> None:
    row = Tfidf(scheme=scheme).fit_transform(TEXTS).toarray()[0]
    rarity = log(3 / 2)
    length = sqrt((aa * rarity) ** 2 + (bb * rarity) ** 2)
    np.testing.assert_allclose(row, [aa * rarity / length, bb * rarity / length, 0, 0], rtol=1e-6)


def test_a_term_of_every_document_weighs_nothing_in_smart_schemes() -> None:
    rows = Tfidf(scheme="ltc").fit_transform(["aa bb", "aa", "aa cc"]).toarray()
    assert rows[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(rows).all()


def test_stems_are_joined_to_terms_after_stop_words_are_taken_out() -> None:
    vectorizer = Tfidf(stemmer="english", stop_words="english", ngram_range=(1, 2))
    vectorizer.fit_transform(["The running of the dogs", "dog runs"])
    assert list(vectorizer.terms()) == ["dog", "dog run", "run", "run dog"]
    again = Tfidf.from_state(vectorizer.state())
    assert again.transform(["DOGS"]).indices.tolist() == [0]
    assert again.term_spans("a DOG").spans == {0: [(2, 5)]}


def test_our_stop_words_are_lower_case_words() -> None:
    assert {"the", "and", "of", "not"} <= ENGLISH
    assert all(word == word.lower() and word.isalpha() for word in ENGLISH)


@pytest.mark.parametrize(
    "wrong",
    [
        {"analyzer": "words"},
        {"scheme": "bm25"},
        {"ngram_range": (2, 1)},
        {"ngram_range": (0, 1)},
        {"ngram_range": (1,)},
        {"stop_words": "german"},
        {"stemmer": "klingon"},
        {"analyzer": "char", "stemmer": "english"},
        {"min_df": 0},
        {"min_df": True},
        {"max_df": 1.5},
        {"max_features": 0},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_with_what_is_accepted(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match="accepted"):
        Tfidf(**wrong)


def test_limits_that_exclude_one_another_and_texts_without_terms_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="max_df"):
        Tfidf(min_df=3, max_df=1).fit_transform(TEXTS)
    for texts in ([], ["", "- ?"]):
        with pytest.raises((InvalidDataError, InvalidRequestError)):
            Tfidf().fit_transform(texts)


def test_term_spans_point_at_the_text_as_sent() -> None:
    vectorizer = Tfidf(ngram_range=(1, 2))
    vectorizer.fit_transform(["wheat prices", "prices of wheat"])
    text = "İİ: WHEAT  Prices; wheat"
    found = vectorizer.term_spans(text)
    terms = vectorizer.terms()
    pointed = {terms[c]: [text[a:b] for a, b in spans] for c, spans in found.spans.items()}
    assert pointed == {
        "wheat": ["WHEAT", "wheat"],
        "prices": ["Prices"],
        "wheat prices": ["WHEAT  Prices"],
    }
    assert found.columns.tolist() == sorted(found.spans)
    np.testing.assert_array_equal(found.values, vectorizer.transform([text]).data)


def test_a_state_whose_arrays_do_not_fit_is_refused() -> None:
    vectorizer = Tfidf()
    vectorizer.fit_transform(TEXTS)
    state = vectorizer.state()
    short = {**state.arrays, "frequencies": state.arrays["frequencies"][:-1]}
    with pytest.raises(DamagedArtifactError):
        Tfidf.from_state(replace(state, arrays=short))
