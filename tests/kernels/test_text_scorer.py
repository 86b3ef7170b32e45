"""From text to labels in one kernel, beside the long way through matrices."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import DamagedArtifactError
from app.kernels.linear import text_scorer, text_scorer_plain
from app.kernels.linear.fused_scorer import FusedScorer
from app.kernels.linear.quantized_weights import quantized
from app.kernels.linear.types import FittedTfidf, LinearArrays
from app.kernels.text import tfidf, tfidf_plain
from app.kernels.text.analysis import Analysis
from app.kernels.text.counts import Counts
from app.kernels.text.leads import LeadColumns
from app.kernels.vocabulary.vocabulary import Vocabulary
from app.vectorizers.tfidf import Tfidf

TERMS = ["aa", "ab", "ba", "bb", "éé", "中語"]
TEXT = st.text(st.sampled_from("aAbB é中語 😀"), max_size=30)
TERMS_REPEATED = st.lists(st.sampled_from(TERMS), max_size=9).map(" ".join)
TEXTS = st.lists(TEXT | TERMS_REPEATED, max_size=5)


def linear(n_labels: int, form: str, *, n_features: int = len(TERMS)) -> LinearArrays:
    random = np.random.default_rng(0)
    dense = random.integers(-2, 3, (n_features, n_labels)).astype(np.float32)
    if form == "quantized":  # levels of one size: all sums stay exact
        dense = np.sign(dense)
    return linear_of(dense, random.integers(-1, 2, n_labels).astype(np.float32), form)


def linear_of(dense: Any, bias: Any, form: str) -> LinearArrays:
    if form == "dense":
        return LinearArrays.of({"weights": dense, "bias": bias})
    rows, labels = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int64)
    if form == "quantized":
        packed = quantized(starts, labels, dense[rows, labels])
        assert packed is not None
        return LinearArrays.of({**packed._asdict(), "bias": bias})
    arrays = {"starts": starts, "labels": labels.astype(form), "values": dense[rows, labels]}
    return LinearArrays.of({**arrays, "bias": bias})


@pytest.mark.parametrize("form", ["dense", "uint16", "int32", "quantized"])
@pytest.mark.parametrize("n_labels", [1, 15, 16, 17])
@pytest.mark.parametrize("scheme", ["tfidf", "atc"])
def test_one_kernel_gives_what_the_long_way_gives(form: str, n_labels: int, scheme: str) -> None:
    idf = np.linspace(1.0, 3.0, len(TERMS))
    fitted_tfidf = FittedTfidf(Analysis(), Vocabulary.of(TERMS), idf, scheme, n_labels == 16)
    fast, plain = (
        module.TextScorer(fitted_tfidf, linear(n_labels, form))
        for module in (text_scorer, text_scorer_plain)
    )

    @settings(max_examples=30, deadline=None)
    @given(TEXTS, st.integers(1, 20), st.integers(1, 3))
    def holds(texts: list[str], k: int, jobs: int) -> None:
        scores = fast.batch_scores(texts, jobs=jobs)
        np.testing.assert_array_equal(scores, plain.batch_scores(texts))
        ranked, expected = fast.batch_top_k(texts, k, jobs=jobs), plain.batch_top_k(texts, k)
        np.testing.assert_array_equal(ranked.labels, expected.labels)
        np.testing.assert_array_equal(ranked.scores, expected.scores)
        for i, text in enumerate(texts):
            np.testing.assert_array_equal(fast.scores(text), scores[i])
            np.testing.assert_array_equal(fast.top_k(text, k).labels, ranked.labels[i])

    holds()


@pytest.mark.parametrize("form", ["dense", "uint16", "int32", "quantized"])
@pytest.mark.parametrize("scheme", ["log", "atc"])
def test_first_words_are_scored_as_the_long_way_scores_them(form: str, scheme: str) -> None:
    leads = LeadColumns.of((1, 3), np.array([[1, 0, 0, 0, 0, 0], [0, 1, 1, 0, 1, 1]], np.bool_))
    idf = np.append(np.linspace(1.0, 3.0, len(TERMS)), [0.5, 0.7, 0.9, 1.3, 1.5])
    fitted = FittedTfidf(Analysis(), Vocabulary.of(TERMS), idf, scheme, False, leads)
    weights = linear(17, form, n_features=len(idf))
    fast, plain = (
        module.TextScorer(fitted, weights) for module in (text_scorer, text_scorer_plain)
    )

    @settings(max_examples=30, deadline=None)
    @given(TEXTS, st.integers(1, 3))
    def holds(texts: list[str], jobs: int) -> None:
        scores = fast.batch_scores(texts, jobs=jobs)
        np.testing.assert_allclose(scores, plain.batch_scores(texts), atol=1e-5)
        for text, row in zip(texts, scores, strict=True):
            np.testing.assert_array_equal(fast.scores(text), row)

    holds()


@pytest.mark.parametrize("module", [text_scorer, text_scorer_plain])
def test_binary_counts_a_repeated_term_once(module: Any) -> None:
    once, repeated = "aa ab", "aa aa aa ab"
    for binary in (True, False):
        idf = np.ones(len(TERMS))
        fitted_tfidf = FittedTfidf(Analysis(), Vocabulary.of(TERMS), idf, "tfidf", binary)
        scorer = module.TextScorer(
            fitted_tfidf, linear_of(np.eye(6, dtype="f4"), np.zeros(6, "f4"), "dense")
        )
        assert np.array_equal(scorer.scores(repeated), scorer.scores(once)) is binary


@pytest.mark.parametrize("form", ["dense", "uint16", "int32", "quantized"])
def test_features_of_many_and_of_few_labels_add_up_alike(form: str) -> None:
    random, n_labels = np.random.default_rng(1), 600
    share = np.linspace(0.005, 0.9, len(TERMS))[:, None]
    dense = random.normal(size=(len(TERMS), n_labels)).astype(np.float32)
    dense[(random.random(dense.shape) > share) | (np.abs(dense) < 0.01)] = 0
    fitted_tfidf = FittedTfidf(Analysis(), Vocabulary.of(TERMS), np.ones(len(TERMS)), "log", False)
    bias = random.normal(size=n_labels).astype(np.float32)
    weights = linear_of(dense, bias, form)
    fast, plain = (
        module.TextScorer(fitted_tfidf, weights) for module in (text_scorer, text_scorer_plain)
    )
    texts = [" ".join(random.choice(TERMS, size)) for size in range(12)]
    scores = fast.batch_scores(texts)
    np.testing.assert_allclose(scores, plain.batch_scores(texts), atol=1e-6)
    for k in (1, 5, 150):
        expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(fast.batch_top_k(texts, k).labels, expected)


@pytest.mark.parametrize("scheme", ["tfidf", "log", "ltc", "atc", "ntc"])
def test_both_weighings_are_the_same_to_the_last_bit(scheme: str) -> None:
    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 99)), max_size=5))
    def holds(rows: list[dict[int, int]]) -> None:
        indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        pairs = [pair for row in rows for pair in sorted(row.items())]
        columns, counts = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in range(2))
        counted = Counts(indptr, columns, counts)
        idf = np.array([0.0, 0.5, 1.0, 1.7, 2.9, 11.0])
        np.testing.assert_array_equal(
            tfidf.tfidf_weights(counted, idf, scheme),
            tfidf_plain.tfidf_weights(counted, idf, scheme),
        )

    holds()


def fused(vectorizer: Tfidf, **arrays: Any) -> FusedScorer:
    return FusedScorer(vectorizer.fitted_parts, lambda: LinearArrays.of(arrays))


def test_weights_that_do_not_fit_the_vocabulary_are_refused_before_a_kernel_sees_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", "auto")
    vectorizer = Tfidf()
    vectorizer.fit_transform(["aa ab", "ba"])
    bias, one = np.zeros(2, np.float32), np.ones(1, np.float32)
    good = {"starts": np.array([0, 1, 1, 1]), "labels": np.array([1], np.uint16), "values": one}
    assert fused(vectorizer, **good, bias=bias).scores(["aa"]) is not None
    for name, wrong in (
        ("starts", np.array([0, 1, 1])),
        ("starts", np.array([0, 9, 1, 1])),
        ("starts", np.array([0, 0, 0, 2])),
        ("labels", np.array([2], np.uint16)),
        ("labels", np.array([], np.uint16)),
    ):
        with pytest.raises(DamagedArtifactError):
            fused(vectorizer, **{**good, name: wrong}, bias=bias).scores(["aa"])
    nothing, one_byte = np.zeros(0, np.uint8), np.ones(1, np.uint8)
    starts, levels = good["starts"], np.array([0, 1], np.float32)
    packed = {"starts": starts, "gaps": one_byte, "codes": one_byte, "levels": levels}
    assert fused(vectorizer, **packed, bias=bias).scores(["aa"]) is not None
    for name, wrong in (("gaps", 2 * one_byte), ("gaps", nothing), ("codes", 2 * one_byte)):
        with pytest.raises(DamagedArtifactError):
            fused(vectorizer, **{**packed, name: wrong}, bias=bias).scores(["aa"])
    with pytest.raises(DamagedArtifactError):
        fused(vectorizer, weights=np.zeros((2, 2), np.float32), bias=bias).scores(["aa"])


def test_without_a_weighing_or_linear_weights_or_a_compiler_there_is_no_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", "auto")
    vectorizer, stemming = Tfidf(), Tfidf(stemmer="english")
    for one in (vectorizer, stemming):
        one.fit_transform(["aa ab", "ba"])
    arrays = {"weights": np.ones((3, 2), np.float32), "bias": np.zeros(2, np.float32)}
    assert fused(vectorizer, **arrays).scores(["aa"]) is not None
    assert fused(stemming, **arrays).scores(["aa"]) is None
    assert FusedScorer(vectorizer.fitted_parts, lambda: None).scores(["aa"]) is None
    assert FusedScorer(list, lambda: LinearArrays.of(arrays)).scores(["aa"]) is None
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    assert fused(vectorizer, **arrays).scores(["aa"]) is None
