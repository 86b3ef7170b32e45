"""Feature selection: the measures by hand, by definition and beside scikit-learn; what is kept."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_selection import chi2, mutual_info_classif

from app.arrays import truth_from_rows
from app.errors import InvalidRequestError
from app.vectorizers.term_selection import chosen_terms as choice
from app.vectorizers.term_selection import term_strength as strength
from app.vectorizers.term_selection.chosen_terms import chosen_terms, term_values
from app.vectorizers.term_selection.term_strength import term_strength
from app.vectorizers.tfidf import Tfidf

TEXTS = ["wheat farm", "wheat port", "ship port", "ship crew port", "loan", "loan farm"]
TRUTH = truth_from_rows([[0], [0], [1], [1], [2], [2]], 3)


def random_data(seed: int = 0, n_documents: int = 60) -> tuple[csr_array, csr_array]:
    random = np.random.default_rng(seed)
    features = csr_array((random.random((n_documents, 12)) < 0.3).astype(np.float32))
    return features, csr_array(random.random((n_documents, 5)) < 0.3)


def in_words(vectorizer: Tfidf, is_kept: NDArray[np.bool_]) -> list[str]:
    return [vectorizer.terms()[column] for column in np.flatnonzero(is_kept)]


def test_chi_square_is_scikit_learns_over_the_share_of_documents_without_the_term() -> None:
    features, truth = random_data()
    frequencies = np.bincount(features.indices, minlength=12)
    by_label = [chi2(features, truth[:, [label]].toarray().ravel())[0] for label in range(5)]
    expected = np.max(by_label, axis=0) * 60 / (60 - frequencies)
    np.testing.assert_allclose(term_values(features, truth, "chi2"), expected, rtol=1e-9)


def test_information_gain_is_scikit_learns_mutual_information_of_presence() -> None:
    features, truth = random_data()
    by_label = [
        mutual_info_classif(features, truth[:, [label]].toarray().ravel(), discrete_features=True)
        for label in range(5)
    ]
    values = term_values(features, truth, "ig")
    np.testing.assert_allclose(values, np.max(by_label, axis=0), atol=1e-12)


def literal(select: str, has_term: Any, has_label: Any) -> float:
    """One term and one label from the four cells of their table."""
    total, n = 0.0, len(has_term)
    if select == "mi":
        both = np.mean(has_term & has_label)
        return float(np.log(both / np.mean(has_term) / np.mean(has_label))) if both else -np.inf
    for term, label in product((False, True), repeat=2):
        observed = np.sum((has_term == term) & (has_label == label))
        expected = np.sum(has_term == term) * np.sum(has_label == label) / n
        if select == "chi2":
            total += (observed - expected) ** 2 / expected if expected else 0.0
        elif observed:
            total += observed / n * np.log(observed / expected)
    return float(total)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["chi2", "ig", "mi"]), st.sampled_from(["max", "mean"]), st.integers(0, 99))
def test_values_are_those_of_the_four_cells_in_any_block_of_labels(
    select: str, over: str, seed: int
) -> None:
    features, truth = random_data(seed, n_documents=12)
    terms, labels = features.toarray() > 0, truth.toarray()
    used = np.flatnonzero(labels.any(axis=0))
    cells = np.array([[literal(select, t, labels[:, c]) for t in terms.T] for c in used])
    shares = labels[:, used].sum(axis=0) / labels.sum()
    expected = cells.max(axis=0) if over == "max" else shares @ np.where(cells > -99, cells, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "CELLS", 24)
        found = term_values(features, truth, select, over)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_literal_version_of_term_strength_gives_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strength, "RELATED", 3)
    monkeypatch.setattr(strength, "ROWS", 7)
    rows = Tfidf().fit_transform([f"a{i % 4} b{i % 3} c{i % 5}" for i in range(20)])
    cosines = (rows @ rows.T).toarray() - np.eye(20, dtype=np.float32)
    threshold = next(t for t in np.arange(999, -1, -1) / 1000 if np.sum(cosines >= t) >= 60)
    has = rows.toarray() > 0
    pairs = [(x, y) for x, y in product(range(20), repeat=2) if cosines[x, y] > threshold]
    met, shared = np.zeros((2, has.shape[1]))
    for x, y in pairs:
        met, shared = met + has[x], shared + (has[x] & has[y])
    np.testing.assert_allclose(term_strength(rows), shared / met)


def test_strength_of_many_documents_is_that_of_a_sample_and_always_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strength, "DOCUMENTS", 30)
    rows = Tfidf().fit_transform([f"a{i % 4} b{i % 3} c{i % 5}" for i in range(90)])
    np.testing.assert_array_equal(term_strength(rows), term_strength(rows))


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("df", ["farm", "loan", "port"]),  # port has 3; farm and loan win the ties of 2
        ("chi2", ["loan", "ship", "wheat"]),
        ("ig", ["loan", "ship", "wheat"]),
        ("mi", ["crew", "loan", "ship"]),  # all four are ln 3: ties go to the lower column
    ],
)
def test_the_best_terms_are_kept_and_ties_go_to_the_lower_column(
    select: str, expected: list[str]
) -> None:
    vectorizer = Tfidf()
    features = vectorizer.fit_transform(TEXTS)
    kept = chosen_terms(features, TRUTH, select=select, keep=3, over="max")
    assert in_words(vectorizer, kept) == expected


def test_a_term_that_no_document_has_is_never_kept() -> None:
    features = csr_array(np.array([[1, 0, 1], [0, 0, 1]], np.float32))
    truth = truth_from_rows([[0], []], 1)
    for select in choice.SELECTIONS:
        kept = chosen_terms(features, truth, select=select, keep=3, over="max")
        assert kept.tolist() == [True, False, True], select


@pytest.mark.parametrize("scheme", ["tfidf", "log", "ltc", "ntc"])
def test_rows_are_those_of_texts_of_the_kept_words_alone(scheme: str) -> None:
    vectorizer = Tfidf(select="chi2", keep=3, scheme=scheme)
    rows = vectorizer.select(vectorizer.fit_transform(TEXTS), TRUTH)
    assert vectorizer.terms() == ["loan", "ship", "wheat"]
    np.testing.assert_allclose(rows.toarray(), vectorizer.transform(TEXTS).toarray(), atol=1e-6)
    assert set(np.diff(rows.indptr)) == {1}
    again = Tfidf.from_state(vectorizer.state())
    np.testing.assert_array_equal(again.idf, vectorizer.idf)
    np.testing.assert_array_equal(again.transform(TEXTS).toarray(), rows.toarray())


def test_the_idf_of_kept_terms_is_that_of_all_documents() -> None:
    plain, vectorizer = Tfidf(), Tfidf(select="df", keep=2)
    plain.fit_transform(TEXTS)
    vectorizer.select(vectorizer.fit_transform(TEXTS), TRUTH, np.arange(3))
    columns = [plain.vocabulary.columns[term] for term in vectorizer.terms()]
    np.testing.assert_array_equal(vectorizer.idf, plain.idf[columns])


@pytest.mark.parametrize(
    "given_settings",
    [
        {"select": "gini", "keep": 2},
        {"select": "chi2"},
        {"keep": 2},
        {"select": "chi2", "keep": 0},
        {"select": "chi2", "keep": 2, "select_over": "sum"},
        {"select": "chi2", "keep": 2, "scheme": "atc"},
        {"lowercase": "yes"},
    ],
)
def test_settings_that_mean_nothing_are_refused_by_name(given_settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match="accepted"):
        Tfidf(**given_settings)
