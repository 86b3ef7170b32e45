"""What every vectorizer for linear learners keeps: shapes, equality after saving, any jobs."""

import json
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.vectorizers import VECTORIZERS
from app.vectorizers.base import Vectorizer, vectorizer_class

TEXTS = ["wheat and corn", "", "Corn prices rise", "ÉTÉ wheat ² ½ été", "wheat"] * 3
ROWS = [([0, 2], [1.0, 0.5]), ([], []), ([3], [2.0]), ([2, 1], [1.0, 1.0]), ([0], [1.0])] * 3
LEAD = "tfidf with first words"
DOCUMENTS: dict[str, Any] = {"tfidf": TEXTS, LEAD: TEXTS, "union": TEXTS, "ready-made": ROWS}
UNKNOWN: dict[str, Any] = {
    "tfidf": ["nothing known here"],
    LEAD: ["nothing known here"],
    "union": ["xyzzy qqq"],
    "ready-made": [([9], [1.0])],
}


@pytest.fixture(params=[*sorted(set(VECTORIZERS) & set(DOCUMENTS)), LEAD])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(kind: str) -> Vectorizer:
    if kind == LEAD:
        return vectorizer_class("tfidf")(lead=[1, 3])
    return vectorizer_class(kind)()


def assert_equal(one: Any, other: Any) -> None:
    assert one.shape == other.shape
    assert one.dtype == other.dtype == np.float32
    np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_rows_of_training_are_the_rows_of_later(kind: str) -> None:
    vectorizer = made(kind)
    rows = vectorizer.fit_transform(DOCUMENTS[kind])
    assert rows.shape == (len(DOCUMENTS[kind]), vectorizer.n_features)
    assert len(vectorizer.terms()) == vectorizer.n_features
    assert_equal(vectorizer.transform(DOCUMENTS[kind]), rows)
    assert rows[[1]].nnz == 0


def test_any_number_of_jobs_gives_the_same(kind: str) -> None:
    one, three = made(kind), made(kind)
    assert_equal(one.fit_transform(DOCUMENTS[kind]), three.fit_transform(DOCUMENTS[kind], jobs=3))
    assert list(one.terms()) == list(three.terms())
    for name, array in one.state().arrays.items():
        np.testing.assert_array_equal(array, three.state().arrays[name])
    assert_equal(one.transform(DOCUMENTS[kind], jobs=99), three.transform(DOCUMENTS[kind]))


def test_a_saved_vectorizer_comes_back_equal(kind: str) -> None:
    vectorizer = made(kind)
    rows = vectorizer.fit_transform(DOCUMENTS[kind])
    state = vectorizer.state()
    json.dumps(state.settings)
    again = vectorizer_class(state.kind).from_state(state)
    assert_equal(again.transform(DOCUMENTS[kind]), rows)
    assert list(again.terms()) == list(vectorizer.terms())


def test_unknown_and_no_documents_give_empty_rows_and_no_rows(kind: str) -> None:
    vectorizer = made(kind)
    vectorizer.fit_transform(DOCUMENTS[kind])
    assert vectorizer.transform(UNKNOWN[kind]).nnz == 0
    assert vectorizer.transform([]).shape == (0, vectorizer.n_features)


def test_ready_made_rows_may_come_as_one_matrix_too() -> None:
    vectorizer = vectorizer_class("ready-made")()
    rows = vectorizer.fit_transform(ROWS)
    other = vectorizer_class("ready-made")()
    assert_equal(other.fit_transform(csr_array(rows)), rows)
    assert_equal(vectorizer.transform([rows[[0]]]), rows[[0]])
    assert vectorizer.terms() == ["0", "1", "2", "3"]


def stands_for(found: str, term: str) -> bool:
    """Whether a place of a text is that of a term.

    The blanks that `char_wb` puts around words do not stand in the text, and between the words of a
    pair there may be what is no word.
    """
    words, wanted = found.split(), term.split()
    return words == wanted or (len(wanted) > 1 and words[:: len(words) - 1] == wanted)


def test_the_row_of_an_explanation_is_the_row_of_the_text(kind: str) -> None:
    vectorizer = made(kind)
    vectorizer.fit_transform(DOCUMENTS[kind])
    for document in DOCUMENTS[kind][:5]:
        terms = vectorizer.term_spans(document)
        assert (terms is None) == (kind == "ready-made")
        if terms is None:
            continue
        row = vectorizer.transform([document])
        np.testing.assert_array_equal(terms.columns, row.indices)
        np.testing.assert_array_equal(terms.values, row.data)
        names = vectorizer.terms()
        for column, spans in terms.spans.items():
            assert spans
            for start, end in spans:
                assert stands_for(document[start:end].lower(), names[column])
        assert set(terms.spans) == set(row.indices.tolist())


def test_a_weighing_is_of_the_vocabulary_that_was_learnt(kind: str) -> None:
    vectorizer = made(kind)
    vectorizer.fit_transform(DOCUMENTS[kind])
    parts = vectorizer.fitted_parts()
    assert bool(parts) == (kind != "ready-made")
    for fitted_tfidf, _ in parts:
        n_columns = len(fitted_tfidf.vocabulary) + len(fitted_tfidf.leads.terms)
        assert n_columns == fitted_tfidf.n_columns == len(fitted_tfidf.idf)
    if parts:
        assert sum(part.tfidf.n_columns for part in parts) == vectorizer.n_features
    assert (vectorizer.fitted_tfidf() is None) == (kind not in ("tfidf", LEAD))
    assert vectorizer.word_vectors() is None
