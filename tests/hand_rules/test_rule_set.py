"""Rules in their order: the last that holds has the last word, and all is kept in an artifact."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.hand_rules.rule_set import HandRules
from app.kernels.text.analysis import Analysis
from app.labels import LabelIndex
from app.vectorizers.ready_made import ReadyMade
from app.vectorizers.tfidf import Tfidf
from app.vectorizers.union import Union
from tests.hand_rules.made_up import rules_of

LABELS = LabelIndex(("corn", "rye", "wheat"))
RULES = (
    ("wheat", "assign", "farm*"),
    ("wheat", "forbid", "export"),
    ("wheat", "assign", "export & wheat"),
    ("corn", "forbid", "!maize"),
)


def test_the_last_rule_that_holds_decides_and_labels_without_one_stay() -> None:
    rules = rules_of(LABELS, *RULES)
    texts = ["farming maize", "farm export maize", "farm export wheat", "tax", "maize"]
    marks = np.tile(np.array([True, True, False]), (len(texts), 1))
    assert [rules.fired(text) for text in texts] == [[0], [0, 1], [0, 1, 2, 3], [3], []]
    assert rules.corrected(marks, texts).tolist() == [
        [True, True, True],
        [True, True, False],
        [False, True, True],
        [False, True, False],
        [True, True, False],
    ]
    assert marks[2].tolist() == [True, True, False]  # as it was


def test_an_empty_text_is_read_like_any_other() -> None:
    assert rules_of(LABELS, *RULES).verdict("") == {0: 3}


WORDS = ["aa", "ab", "ba", "bb"]
PATTERNS = ["aa", "ab*", "!aa", "aa & bb", "aa | ba", '"aa bb"', "aa ~2 ba", "!(aa | bb) & ba"]
RULE = st.tuples(
    st.sampled_from(LABELS.names), st.sampled_from(["assign", "forbid"]), st.sampled_from(PATTERNS)
)


@settings(max_examples=200, deadline=None)
@given(st.lists(RULE, max_size=8), st.lists(st.sampled_from(WORDS), max_size=6))
def test_every_rule_counts_as_if_all_were_tried_one_after_the_other(
    made: list[tuple[str, str, str]], words: list[str]
) -> None:
    text = " ".join(words)
    each = [rules_of(LABELS, one).fired(text) == [0] for one in made]
    assert rules_of(LABELS, *made).fired(text) == [i for i, holds in enumerate(each) if holds]
    expected: dict[str, bool] = {}
    for (label, then, _), holds in zip(made, each, strict=True):
        expected |= {label: then == "assign"} if holds else {}
    marks = np.array([[False, True, False]])
    corrected = rules_of(LABELS, *made).corrected(marks, [text])[0]
    kept = dict(zip(LABELS.names, marks[0], strict=True))
    assert corrected.tolist() == list((kept | expected).values())


def test_rules_come_back_from_arrays_alone() -> None:
    rules = rules_of(LABELS, *RULES, analysis=Analysis(lowercase=False))
    state = rules.state()
    again = HandRules.from_state(state, LABELS, Analysis(lowercase=False))
    assert {array.dtype.kind for array in state.arrays.values()} <= set("biu")
    assert _without_lines(again) == _without_lines(rules)
    assert again.fired("Farm farming") == [0, 3]


def test_every_vectorizer_of_texts_says_what_a_word_is() -> None:
    stemmed = Tfidf(stemmer="english")
    characters = Tfidf(analyzer="char_wb", ngram_range=(3, 4))
    parts = [{"analyzer": "char_wb"}, {"stemmer": "english", "ngram_range": (1, 2)}]
    assert stemmed.word_analysis().stemmed(["walking"]) == ["walk"]
    assert characters.word_analysis() == Analysis()
    assert Union(parts=parts).word_analysis().stemmed(["walking"]) == ["walk"]
    assert ReadyMade().word_analysis() is None


def _without_lines(rules: HandRules) -> list[tuple[Any, ...]]:
    return [(r.label, r.when, r.is_assigning, r.pattern, r.note) for r in rules.rules]
