"""Relabelled models: every way of asking agrees with the definition, written out."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.classifier import Classifier
from app.decisions.abstention import Abstention
from app.decisions.decision import Decision
from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, evaluate
from app.labels import LabelIndex, Relabelling
from app.prediction import Query, plan_of
from app.state import State
from tests.decisions.scored_model import classifier_of, records_of, texts_of

NAMES = ["b", "label000", "label003", "z", ""]


@st.composite
def relabelled_models(draw: Any) -> tuple[Any, Decision, Relabelling]:
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = (rng.integers(-3, 4, (n, m)) / 2).astype(np.float32)
    cuts = (rng.integers(-3, 3, m) / 2).astype(np.float32)
    names = [f"label{column:03}" for column in range(m)]
    renamed = draw(st.dictionaries(st.sampled_from(names), st.sampled_from(NAMES)))
    if not any(renamed.get(name, name) for name in names):
        renamed = {}
    most = draw(st.sampled_from([None, 1, 2, 9]))
    decision = Decision(draw(st.sampled_from([cuts, None])), "made", most)
    return scores, decision, Relabelling.of(names, renamed)


def literal(row: Any, decision: Decision, relabelling: Relabelling) -> list[Any]:
    """(label, score, cut) of one document, best first, ties by label; of equal ones the first."""
    cuts = [None] * len(row) if decision.cuts is None else decision.cuts.tolist()
    best: dict[str, tuple[float, float | None]] = {}
    for name, score, cut in zip(relabelling.column_names, row.tolist(), cuts, strict=True):
        passes = cut is None or score > cut
        if name and passes and (name not in best or score > best[name][0]):
            best[name] = score, cut
    ordered = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
    return [(name, *told) for name, told in ordered[: decision.most_labels]]


@settings(max_examples=50, deadline=None)
@given(relabelled_models())
def test_the_plan_the_classifier_and_the_evaluation_agree_with_the_definition(
    case: Any,
) -> None:
    scores, decision, relabelling = case
    classifier = replace(classifier_of(scores, decision), relabelling=relabelling)
    wanted = [literal(row, decision, relabelling) for row in scores]
    plan, texts = plan_of(Query(), classifier), texts_of(scores)
    for predictions in (plan.predictions(texts), [plan.predictions([t])[0] for t in texts]):
        found = [[(x.label, x.score, x.threshold) for x in one.labels] for one in predictions]
        assert found == wanted
    names = relabelling.labels.names
    sets = [{label for label, _, _ in labels} for labels in wanted]
    assert [{names[c] for c in np.flatnonzero(m)} for m in classifier.decide(texts)] == sets
    with TemporaryDirectory() as folder:
        options = EvaluationOptions(predictions=Path(folder) / "lines")
        counts = evaluate(classifier, records_of(classifier, scores), options).as_dict()
        lines = (Path(folder) / "lines").read_text().splitlines()
    assert [{one["label"] for one in json.loads(line)["labels"]} for line in lines] == sets
    assert {entry["label"] for entry in counts["labels"]} == set(names)
    for entry in counts["labels"]:
        assert entry["tp"] + entry["fp"] == sum(entry["label"] in labels for labels in sets)


def model(renamed: dict[str, str], decision: Decision | None = None) -> Classifier:
    """One document that label000 to label003 score 0.5, -0.5, 2 and 1; cuts at 0."""
    scores = np.array([[0.5, -0.5, 2.0, 1.0]], np.float32)
    decision = decision or Decision(np.zeros(4, np.float32), "zero")
    plain = classifier_of(scores, decision)
    return replace(plain, relabelling=Relabelling.of(plain.labels.names, renamed))


def asked(classifier: Classifier, **query: Any) -> list[tuple[str, float]]:
    (found,) = plan_of(Query(**query), classifier).predictions(["term0"])
    return [(label.label, label.score) for label in found.labels]


def test_a_hidden_label_is_never_answered_whatever_is_asked() -> None:
    hidden = model({"label002": ""})
    assert asked(hidden) == [("label003", 1.0), ("label000", 0.5)]
    assert [label for label, _ in asked(hidden, top_k=9)] == ["label003", "label000", "label001"]
    assert asked(hidden, threshold=0.9) == [("label003", 1.0)]
    with pytest.raises(InvalidRequestError, match="no such label"):
        asked(hidden, labels=("label002",))


def test_a_merged_label_takes_its_best_trained_label_that_passes() -> None:
    cuts = np.array([0, 0, 3, 0], np.float32)
    merged = model({"label000": "m", "label002": "m"}, Decision(cuts, "made"))
    assert asked(merged) == [("label003", 1.0), ("m", 0.5)]
    assert asked(merged, top_k=1, threshold=-9) == [("m", 2.0)]
    assert asked(merged, labels=("m",)) == [("m", 0.5)]
    (told,) = plan_of(Query(labels=("m",)), merged).predictions(["term0"])
    assert told.labels[0].threshold == 0


def test_a_merged_label_is_abstained_from_only_where_it_is_not_assigned() -> None:
    bands = [np.array(ends, np.float32) for ends in ([0, 0, 0, 0], [1, 0, 0, 2])]
    for renamed, assigned, abstained in (
        ({"label000": "a", "label003": "b"}, ["label002"], ["a", "b"]),
        ({"label000": "label002"}, ["label002"], ["label003"]),
        ({"label000": "m", "label003": "m"}, ["label002"], ["m"]),
        ({"label000": "", "label002": ""}, [], ["label003"]),
    ):
        classifier = replace(model(renamed), abstention=Abstention(0.9, *bands))
        (found,) = plan_of(Query(), classifier).predictions(["term0"])
        assert ([label.label for label in found.labels], found.abstained) == (assigned, abstained)
        report = evaluate(classifier, records_of(classifier, np.zeros((1, 4)))).as_dict()
        given = [one["label"] for one in report["labels"] if one["tp"] + one["fp"]]
        assert given == assigned


def test_the_expectations_of_an_operating_point_are_left_out_where_labels_were_merged() -> None:
    for renamed, has_figures in (({"label000": "m"}, True), ({"label000": "label001"}, False)):
        point = plan_of(Query(operating_point="f1"), model(renamed)).point
        assert point is not None
        assert ("precision" in point) is has_figures


def test_labels_that_cannot_reach_a_precision_are_named_as_they_are_answered() -> None:
    plain = classifier_of(np.zeros((1, 4), np.float32), Decision(None, "rank:1", 1))
    assert plain.operating_points is not None
    point = plan_of(Query(operating_point="each:precision>=0.92"), plain).point or {}
    unreached = point["not_assigned"]
    assert 0 < len(unreached) < 4
    reached = next(name for name in plain.labels.names if name not in unreached)
    merged = Relabelling.of(plain.labels.names, {unreached[0]: reached, unreached[-1]: ""})
    query = Query(operating_point="each:precision>=0.92")
    point = plan_of(query, replace(plain, relabelling=merged)).point or {}
    assert point["not_assigned"] == unreached[1:-1]
    assert point["n_not_assigned"] == len(unreached[1:-1])


def test_a_test_set_is_understood_under_old_names_and_new_ones() -> None:
    renamed = {"label000": "label001", "label001": "new", "label003": ""}
    classifier = model(renamed)
    (record,) = records_of(classifier, np.zeros((1, 4)))
    for labels, wanted, hidden in (
        (("label001",), {"label001"}, 0),
        (("label000",), {"label001"}, 0),
        (("new", "label002"), {"new", "label002"}, 0),
        (("label003", "label000"), {"label001"}, 1),
    ):
        renamed_record = type(record)(record.text, labels, "1", 1)
        report = evaluate(classifier, [renamed_record], EvaluationOptions()).as_dict()
        assert {e["label"] for e in report["labels"] if e["support"]} == wanted
        assert any("never answers any more" in one for one in report["warnings"]) == bool(hidden)
        assert report["data"]["zero_shot_pairs"] == 0


@pytest.mark.parametrize("targets", [[0, 0], [0, 2], [0, -2], [0, 1, 1]])
def test_arrays_that_hold_no_relabelling_are_refused(targets: list[int]) -> None:
    state = Relabelling.of(["a", "b"], {"a": "c"}).state()
    arrays = state.arrays | {"targets": np.array(targets, np.int32)}
    with pytest.raises(ValueError, match="relabelling"):
        Relabelling.from_state(State("relabelling", {}, arrays), 2)
    assert LabelIndex(("b", "c")) == Relabelling.from_state(state, 2).labels
