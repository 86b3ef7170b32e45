"""Settings of a recipe are refused by name and by type before any work starts."""

from typing import Any

import pytest

from app.decisions.tuning.options import TuningOptions
from app.errors import InvalidRequestError
from app.learners import LEARNERS
from app.learners.base import learner_class
from app.training.construct import construct, construct_part
from app.vectorizers import VECTORIZERS
from app.vectorizers.base import vectorizer_class


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_names_the_settings_it_has(kind: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"has no setting 'nope'; accepted: \w+"):
        construct_part(kind, learner_class(kind), {"nope": 1})


@pytest.mark.parametrize("kind", VECTORIZERS)
def test_every_vectorizer_names_the_settings_it_has(kind: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"has no setting 'nope'; accepted: \w+"):
        construct_part(kind, vectorizer_class(kind), {"nope": 1})


@pytest.mark.parametrize(
    ("kind", "settings", "problem"),
    [
        ("one-vs-rest", {"prune": "abc"}, "x: prune is a number"),
        ("one-vs-rest", {"prune": True}, "x: prune is a number"),
        ("one-vs-rest", {"options": 1}, "x: options is a word in quotes"),
        ("one-vs-rest", {"costs": 1}, "x has no setting 'costs'"),
        ("tree", {"beam": 1.5}, "x: beam is a whole number"),
        ("cost-sensitive", {"prune": "a"}, "x: prune is a number"),
        ("mlp", {"epochs": "many"}, "x: epochs is a whole number"),
        ("transformer", {"frozen": 1}, "x: frozen is true or false"),
    ],
)
def test_a_setting_of_another_type_is_refused(
    kind: str, settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidRequestError, match=problem):
        construct_part("x", learner_class(kind), settings)


def test_a_whole_number_is_a_number_and_other_types_are_left_to_who_takes_them() -> None:
    assert construct_part("x", learner_class("one-vs-rest"), {"prune": 0}).prune == 0
    tfidf = construct_part("x", vectorizer_class("tfidf"), {"ngram_range": [1, 2], "min_df": 0.5})
    assert tfidf.settings.ngram_range == (1, 2)


def test_a_fraction_of_a_resample_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="decision: resamples is a whole number"):
        construct("decision", TuningOptions, {"resamples": 1.5})
