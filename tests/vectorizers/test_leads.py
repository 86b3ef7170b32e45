"""The first words of a text again, as columns of their own."""

from collections import Counter
from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import truth_from_rows
from app.classifier import Classifier, Member
from app.decisions.decision import Decision
from app.errors import DamagedArtifactError, InvalidRequestError
from app.explanation import explain
from app.folds import Folds
from app.kernels.text.analysis import Analysis
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.fold_plan import FoldPlan
from app.training.members import TrainingData, fit_member
from app.training.recipe import read_recipe
from app.vectorizers.tfidf import Tfidf

TEXTS = ["aa bb aa cc", "bb cc dd aa aa", "", "dd"]
WORDS = st.sampled_from(["aa", "bb", "Cc", "dd", "éé", "x", "中語", "the"])
TEXT = st.lists(WORDS, max_size=9).map(" ".join)


@pytest.fixture(params=["auto", "plain"], autouse=True)
def both_paths(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", request.param)


def test_two_first_words_are_the_columns_on_paper() -> None:
    vectorizer = Tfidf(scheme="log", lead=[2], lead_weight=0.5)
    rows = vectorizer.fit_transform(["aa bb bb", "bb cc"]).toarray()
    assert list(vectorizer.terms()) == ["aa", "bb", "cc", "aa", "bb", "cc"]
    rare, common = log(3 / 2) + 1, 1.0
    row = [rare, (1 + log(2)) * common, 0, rare / 2, common / 2, 0]
    np.testing.assert_allclose(rows[0], np.array(row) / sqrt(sum(x * x for x in row)), rtol=1e-6)


def test_only_terms_that_stood_among_the_first_words_have_a_column_there() -> None:
    vectorizer = Tfidf(lead=[1, 3])
    vectorizer.fit_transform(TEXTS)
    assert " ".join(vectorizer.terms()) == "aa bb cc dd aa bb dd aa bb cc dd"
    assert vectorizer.transform(["cc aa"]).indices.tolist() == [0, 2, 7, 9]


def literal(texts: list[str], options: dict[str, Any], analysis: Analysis) -> Any:
    """Column names and rows by plain dictionaries, one norm over all."""
    scheme, weight = options.get("scheme", "tfidf"), options.get("lead_weight", 1.0)
    cut = [analysis.words(text) for text in texts]
    blocks = [None, *options["lead"]]
    counts = [
        Counter((block, term) for block in blocks for term in ngrams(words[:block], analysis))
        for words in cut
    ]
    frequency = Counter(term for row in counts for block, term in row if block is None)
    names = sorted({key for row in counts for key in row}, key=lambda k: (blocks.index(k[0]), k[1]))
    rows = np.zeros((len(texts), len(names)))
    for row, own in zip(rows, counts, strict=True):
        for key, count in own.items():
            tf = 1.0 if options.get("binary") else float(count)
            tf = 1 + log(tf) if scheme == "log" else tf
            idf = log((1 + len(texts)) / (1 + frequency[key[1]])) + 1
            row[names.index(key)] = tf * idf * (1 if key[0] is None else weight)
        row /= sqrt((row**2).sum()) or 1
    return [term for _, term in names], rows


def ngrams(words: list[str], analysis: Analysis) -> list[str]:
    lengths = range(analysis.shortest, analysis.longest + 1)
    return [" ".join(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1)]


@pytest.mark.parametrize(
    "options",
    [
        {"lead": [3]},
        {"lead": [1, 4, 300], "scheme": "log", "lead_weight": 0.25},
        {"lead": [2, 5], "ngram_range": (1, 2)},
        {"lead": [2, 3], "stop_words": ["the", "aa"], "binary": True},
    ],
    ids=str,
)
def test_rows_are_those_of_a_literal_version(options: dict[str, Any]) -> None:
    @settings(max_examples=40, deadline=None)
    @given(st.lists(TEXT, min_size=1, max_size=5), st.integers(1, 3))
    def holds(texts: list[str], jobs: int) -> None:
        texts = ["zz aa", *texts]
        vectorizer = Tfidf(**options)
        rows = vectorizer.fit_transform(texts, jobs=jobs)
        names, expected = literal(texts, options, vectorizer.analysis)
        assert list(vectorizer.terms()) == names
        assert rows.has_canonical_format
        np.testing.assert_allclose(rows.toarray(), expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(vectorizer.transform(texts).toarray(), rows.toarray())

    holds()


def test_leads_beyond_one_stride_of_words_are_counted_whole() -> None:
    text = " ".join(["aa", "bb", "cc"][number % 3] for number in range(700))
    vectorizer = Tfidf(lead=[500], scheme="ntc")
    vectorizer.fit_transform([text, "dd"])
    row = vectorizer.transform([text]).toarray()[0]
    counted = np.array([167, 167, 166]) / [234, 233, 233]
    np.testing.assert_allclose(row[4:7] / row[:3], counted, rtol=1e-6)


def test_places_of_first_words_are_those_within_the_lead() -> None:
    vectorizer = Tfidf(lead=[2], ngram_range=(1, 2))
    vectorizer.fit_transform(["aa bb", "bb aa"])
    text = "Bb, AA bb"
    found, names = vectorizer.term_spans(text), vectorizer.terms()
    places = [(names[column], spans) for column, spans in found.spans.items()]
    assert places == [
        *[("aa", [(4, 6)]), ("aa bb", [(4, 9)]), ("bb", [(0, 2), (7, 9)]), ("bb aa", [(0, 6)])],
        *[("aa", [(4, 6)]), ("bb", [(0, 2)]), ("bb aa", [(0, 6)])],
    ]
    np.testing.assert_array_equal(found.values, vectorizer.transform([text]).data)


def test_a_stemmer_works_on_first_words_too() -> None:
    vectorizer = Tfidf(lead=[1], stemmer="english")
    vectorizer.fit_transform(["running dogs", "dogs"])
    assert list(vectorizer.terms()) == ["dog", "run", "dog", "run"]
    assert vectorizer.transform(["Runs dog"]).indices.tolist() == [0, 1, 3]


def test_held_out_rows_drop_first_words_that_the_fold_does_not_know() -> None:
    texts = ["aa bb", "bb aa", "aa cc", "cc bb aa"]
    vectorizer = Tfidf(lead=[1])
    rows = vectorizer.fit_transform(texts)
    last = Folds(np.array([1, 1, 1, 0], np.int32))
    known = vectorizer.held_out_rows(rows, last).toarray()[3]
    assert np.array(vectorizer.terms())[known > 0].tolist() == ["aa", "bb", "cc"]
    assert sqrt((known**2).sum()) == pytest.approx(1, rel=1e-6)
    assert np.count_nonzero(rows.toarray()[3]) == 4


def test_selected_terms_keep_their_columns_among_the_first_words() -> None:
    texts = ["aa bb", "bb aa", "cc aa bb", "cc bb"]
    sets = [["x"], ["y"], ["x"], ["y"]]
    truth = LabelIndex.of(sets).truth(sets)
    vectorizer = Tfidf(lead=[1], select="df", keep=2)
    rows = vectorizer.fit_transform(texts)
    some = vectorizer.selected_rows(rows, truth, np.arange(2))
    assert some.shape == (4, 4)
    kept = vectorizer.select(rows, truth)
    assert list(vectorizer.terms()) == ["aa", "bb", "aa", "bb"]
    np.testing.assert_allclose(vectorizer.transform(texts).toarray(), kept.toarray(), rtol=1e-6)
    assert vectorizer.selected_rows(rows, truth, np.arange(4)).shape == (4, 4)
    again = Tfidf.from_state(vectorizer.state())
    np.testing.assert_array_equal(
        again.transform(texts).toarray(), vectorizer.transform(texts).toarray()
    )


RECIPES: list[dict[str, Any]] = [
    {"features": {"lead": [2, 3]}, "learner": {"ratios": 0.5}},
    {
        "features": {
            "parts": [
                {"lead": [2], "ngram_range": [1, 2]},
                {"analyzer": "char", "ngram_range": [2, 3], "weight": 0.5},
            ]
        }
    },
]


@pytest.mark.parametrize("tables", RECIPES, ids=["tfidf", "union"])
def test_a_model_scores_first_words_and_explains_them_exactly(tables: dict[str, Any]) -> None:
    texts = ["wheat farm bank", "bank loan farm", "corn wheat loan", "loan rate wheat"] * 9
    truth = truth_from_rows([[0], [1], [0], [1]] * 9, 2)
    (recipe,) = read_recipe(tables).completed().members
    member = fit_member(
        recipe, TrainingData(texts, truth), plan=FoldPlan(3), fitting=Fitting()
    ).member
    rows = member.learner.scores(member.vectorizer.transform(texts))
    np.testing.assert_allclose(member.scores(texts, jobs=2), rows, atol=1e-5)
    again = Member.from_state(member.state())
    np.testing.assert_array_equal(again.scores(texts), member.scores(texts))
    decision = Decision(np.zeros(2, np.float32), "zero")
    classifier = Classifier(LabelIndex(("grain", "money")), (again,), decision)
    text = "Wheat: wheat farm, wheat"
    for label, why in enumerate(explain(classifier, text, [0, 1], 100)):
        total = sum(reason.weight for reason in why.because) + why.bias + why.rest
        assert total == pytest.approx(float(classifier.scores([text])[0, label]), abs=1e-5)
        places = [reason.at for reason in why.because if reason.name == "wheat"]
        assert sorted(places, key=str)[-1] == [(0, 5), (7, 12)]  # two of the three
        assert [(0, 5), (7, 12), (19, 24)] in places


@pytest.mark.parametrize(
    "wrong",
    [
        {"lead": [0]},
        {"lead": [40, 15]},
        {"lead": [15, 15]},
        {"lead": [1.5]},
        {"lead": 15},
        {"lead": "15"},
        {"lead": [15], "analyzer": "char"},
        {"lead": [15], "lead_weight": 0},
        {"lead": [15], "lead_weight": "half"},
    ],
    ids=str,
)
def test_wrong_leads_are_refused_with_what_is_accepted(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"lead.*accepted"):
        Tfidf(**wrong)


def test_a_state_whose_leads_do_not_fit_is_refused() -> None:
    vectorizer = Tfidf(lead=[1])
    vectorizer.fit_transform(TEXTS)
    state = vectorizer.state()
    wrong = {**state.arrays, "leads": state.arrays["leads"][:, 1:]}
    with pytest.raises(DamagedArtifactError):
        Tfidf.from_state(replace(state, arrays=wrong))
