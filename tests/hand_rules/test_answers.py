"""A model with rules answers alike however it is asked, and rules have the last word."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.classifier import Classifier
from app.datasets.base import Record
from app.decisions.abstention import Abstention
from app.decisions.decision import Decision
from app.errors import InvalidRequestError
from app.explanation import explain
from app.labels import Relabelling
from app.prediction import Query, plan_of
from app.prediction.answers import Prediction
from app.prediction.offline import FileQuery, file_predictions
from tests.decisions.scored_model import (
    classifier_of,
    evaluated,
    marked,
    planned,
    predicted,
    records_of,
    texts_of,
)
from tests.hand_rules.made_up import ruled

SCORES = np.array(
    [[2.0, 1.0, -1.0, -2.0], [-1.0, 2.0, 0.5, -2.0], [0.5, -1.0, -2.0, 3.0]], np.float32
)
ZERO = Decision(np.zeros(4, np.float32), "zero")
RANK = Decision(None, "rank:1", 1)
RULES = (
    ("label003", "assign", "term0"),
    ("label001", "forbid", "term0"),
    ("label000", "assign", "term*"),
    ("label000", "forbid", "term1"),
    ("label001", "assign", "nowhere"),
)
"""Text 0: 3 and 0 assigned, 1 forbidden; text 1: 0 forbidden; text 2: 0 assigned."""


def model(decision: Decision = ZERO) -> Classifier:
    return ruled(classifier_of(SCORES, decision), *RULES)


def answer(query: Query, text: str = "term0", classifier: Classifier | None = None) -> Prediction:
    plan = plan_of(query, classifier or model(), explainer=explain)
    return plan.predictions([text])[0]


def names(prediction: Prediction) -> list[str]:
    return [label.label for label in prediction.labels]


def test_rules_act_on_the_decision_of_each_document() -> None:
    assert model().decide(texts_of(SCORES)).tolist() == [
        [True, False, False, True],
        [False, True, True, False],
        [True, False, False, True],
    ]


@pytest.mark.parametrize("decision", [ZERO, RANK], ids=str)
def test_classifier_prediction_file_and_evaluation_give_the_same_labels(
    decision: Decision, tmp_path: Path
) -> None:
    classifier = model(decision)
    expected = marked(SCORES, classifier.decide(texts_of(SCORES)))
    assert planned(classifier, SCORES, Query()) == (expected, expected)
    asked = FileQuery(Query(), np.full(4, 0.5))
    found = file_predictions(asked, classifier, records_of(classifier, SCORES))
    assert predicted(classifier, found) == expected
    judged, report = evaluated(classifier, SCORES, "tuned", tmp_path)
    assert judged == expected
    given = [label["tp"] + label["fp"] for label in report["labels"]]
    assert given == classifier.decide(texts_of(SCORES)).sum(axis=0).tolist()


def test_a_decision_over_the_whole_file_is_corrected_alike(tmp_path: Path) -> None:
    classifier = model()
    asked = FileQuery(Query(operating_point="proportion:1"), np.full(4, 1 / 3))
    found = list(file_predictions(asked, classifier, records_of(classifier, SCORES)))
    assert [set(names(one)) for one in found] == [
        {"label000", "label003"},
        {"label001", "label002"},
        {"label000", "label003"},
    ]


def test_top_k_alone_ranks_without_what_is_forbidden_and_assigns_nothing() -> None:
    assert names(answer(Query(top_k=3))) == ["label000", "label002", "label003"]
    assert names(answer(Query(top_k=1), "term1")) == ["label001"]
    assert answer(Query(top_k=3, explain=1)).labels[0].because[0].rule is None  # type: ignore[index]


def test_top_k_bounds_what_is_decided_after_the_rules() -> None:
    assert names(answer(Query(top_k=1, operating_point="tuned"))) == ["label000"]
    assert names(answer(Query(operating_point="tuned"), classifier=model(RANK))) == [
        "label000",
        "label003",
    ]


@pytest.mark.parametrize("asked", [Query(threshold=5.0), Query(threshold=1.5)])
def test_rules_hold_at_any_cut(asked: Query) -> None:
    assert names(answer(asked)) == ["label000", "label003"]


def test_labels_that_were_not_asked_for_are_not_assigned() -> None:
    assert names(answer(Query(labels=("label001", "label003")))) == ["label003"]
    assert names(answer(Query(labels=("label001", "label002")))) == []


def test_an_assigned_label_keeps_its_score_names_its_rule_and_has_no_threshold() -> None:
    first, last = answer(Query(explain=2)).labels
    assert (first.score, first.threshold) == (2.0, None)
    assert (last.label, last.score, last.threshold) == ("label003", -2.0, None)
    assert last.because is not None
    assert (last.because[0].rule, last.because[0].weight) == ("term0", 0.0)
    assert last.bias is not None
    assert last.rest is not None
    assert sum(r.weight for r in last.because) + last.bias + last.rest == last.score


def test_what_a_rule_decides_is_not_abstained_from() -> None:
    upper = np.full(4, 1.5, np.float32)
    band = Abstention(0.9, np.full(4, -3.0, np.float32), upper)
    classifier = replace(model(), abstention=band)
    assert names(answer(Query(), classifier=classifier)) == ["label000", "label003"]
    assert answer(Query(), classifier=classifier).abstained == ["label002"]


def test_a_label_without_a_score_is_assigned_with_null() -> None:
    scores = SCORES.copy()
    scores[0, 3] = -np.inf
    classifier = model()
    plan = plan_of(Query(), classifier)
    assert plan.rules is not None
    picked = plan._picked(scores[0], plan.rules.verdict("term0"))
    prediction = plan._prediction(scores[0], picked)
    plan.rules.settle(prediction, plan.rules.verdict("term0"))
    assert [(label.label, label.score) for label in prediction.labels] == [
        ("label000", 2.0),
        ("label003", None),
    ]


def test_rules_name_the_labels_that_a_relabelled_model_answers() -> None:
    plain = classifier_of(SCORES, ZERO)
    merged = {"label002": "both", "label003": "both", "label001": "one"}
    relabelling = Relabelling.of(plain.labels.names, merged)
    classifier = ruled(
        replace(plain, relabelling=relabelling),
        ("both", "assign", "term0"),
        ("one", "forbid", "term0"),
        ("both", "forbid", "term2"),
    )
    for text, expected in (("term0", ["label000", "both"]), ("term2", ["label000"])):
        assert names(answer(Query(), text, classifier)) == expected
        marks = classifier.decide([text])[0]
        assert {classifier.answered_labels.names[c] for c in np.flatnonzero(marks)} == set(expected)
    assert answer(Query(), "term0", classifier).labels[1].score == -1.0


def test_a_model_without_rules_keeps_its_one_kernel() -> None:
    plain = plan_of(Query(), classifier_of(SCORES, ZERO))
    assert plain.rules is None
    assert plan_of(Query(), model())._scorer is None


def test_a_ready_made_document_has_no_words_for_rules() -> None:
    with pytest.raises(InvalidRequestError):
        list(file_predictions(FileQuery(Query(), np.ones(4)), model(), [_features()]))


def _features() -> Record:
    return Record("", (), None, 1, (np.zeros(1, np.int32), np.ones(1, np.float32)))
