"""Plans beyond what the tiny model over HTTP can show: rank decisions, abstention, whole files."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.artifacts.store import Store
from app.classifier import Classifier
from app.decisions.abstention import Abstention
from app.decisions.decision import Decision
from app.errors import DamagedArtifactError, InvalidRequestError
from app.model import load_model
from app.prediction import Query, plan_of

ROOT = Path(__file__).parents[2]
TEXTS = ["refund the invoice payment", "paper jam, toner", "parcel late, delivery crash"]


@pytest.fixture(scope="module")
def classifier(tiny_models: Path) -> Classifier:
    return load_model(Store(tiny_models), "tiny").classifier


def names(classifier: Classifier, query: Query) -> list[list[str]]:
    plan = plan_of(query, classifier)
    return [[label.label for label in p.labels] for p in plan.predictions(TEXTS)]


def test_a_plan_decides_as_the_classifier_does(classifier: Classifier) -> None:
    marks = classifier.decide(TEXTS)
    expected = [{classifier.labels.names[i] for i in np.flatnonzero(row)} for row in marks]
    assert list(map(set, names(classifier, Query()))) == expected


def test_a_text_alone_is_answered_as_among_others_also_with_little_room(
    classifier: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in (128, 1):
        monkeypatch.setattr("app.prediction.plan.SORTED_AT_ONCE", room)
        monkeypatch.setattr("app.decisions.decision.SORTED_AT_ONCE", room)
        for query in (Query(), Query(top_k=1), Query(top_k=3), Query(threshold=-10.0)):
            plan = plan_of(query, classifier)
            alone = [plan.predictions([text])[0] for text in TEXTS]
            assert alone == plan.predictions(TEXTS)


def test_a_decision_by_rank_gives_so_many_labels_without_thresholds(
    classifier: Classifier,
) -> None:
    ranked = replace(classifier, decision=Decision(None, "rank:2", 2))
    assert [len(found) for found in names(ranked, Query())] == [2, 2, 2]
    assert [len(found) for found in names(ranked, Query(top_k=1, operating_point="tuned"))] == [
        1
    ] * 3
    assert plan_of(Query(), ranked).predictions(TEXTS)[0].labels[0].threshold is None


@pytest.mark.parametrize("damage", [lambda cuts: cuts[:-1], lambda cuts: cuts.astype(np.float64)])
def test_cuts_that_do_not_fit_the_labels_never_reach_a_kernel(
    classifier: Classifier, damage: Callable[[Any], Any]
) -> None:
    damaged = replace(classifier, decision=Decision(damage(classifier.decision.cuts), "tuned"))
    with pytest.raises(DamagedArtifactError, match="do not fit the labels"):
        plan_of(Query(), damaged)


def test_labels_in_the_band_are_named_but_not_assigned(classifier: Classifier) -> None:
    cuts = classifier.decision.cuts
    assert cuts is not None
    abstaining = replace(
        classifier, abstention=Abstention(0.9, cuts, np.full(len(cuts), 1e6, np.float32))
    )
    tuned = names(classifier, Query())
    found = plan_of(Query(), abstaining).predictions(TEXTS)
    assert [prediction.labels for prediction in found] == [[], [], []]
    assert [sorted(prediction.abstained or []) for prediction in found] == list(map(sorted, tuned))
    only = plan_of(Query(labels=("crash",)), abstaining).predictions(TEXTS)
    assert only[0].abstained == []
    assert plan_of(Query(top_k=1), abstaining).predictions(TEXTS)[0].abstained is None


def test_a_label_without_a_score_has_no_probability_to_pass_with(classifier: Classifier) -> None:
    scores = np.array([1, -np.inf, 0, -np.inf, 2], np.float32)
    found = plan_of(Query(min_probability=0), classifier).prediction(scores)
    assert [label.score for label in found.labels] == [2, 1, 0]


def test_what_a_bare_model_cannot_answer_is_said(classifier: Classifier) -> None:
    bare = replace(classifier, hulls=None, calibration=None)
    for query in (Query(min_probability=0.5), Query(operating_point="f1")):
        with pytest.raises(InvalidRequestError):
            plan_of(query, bare)
    assert plan_of(Query(), bare).predictions(TEXTS)[0].labels[0].probability is None


def test_a_probability_equal_to_the_minimum_is_enough_and_top_k_keeps_the_best(
    classifier: Classifier,
) -> None:
    assert classifier.calibration is not None
    scores = classifier.scores(TEXTS[:1])
    probabilities = np.sort(classifier.calibration.probabilities(scores)[0])[::-1]
    query = Query(min_probability=float(probabilities[2]))
    found = plan_of(query, classifier).prediction(scores[0]).labels
    assert len(found) == 3
    best = plan_of(query._replace(top_k=2), classifier).prediction(scores[0]).labels
    assert best == found[:2]


def test_a_band_ends_with_its_upper_cut_and_begins_above_its_lower(classifier: Classifier) -> None:
    lower, upper = np.zeros(5, np.float32), np.ones(5, np.float32)
    abstaining = replace(classifier, abstention=Abstention(0.9, lower, upper))
    scores = np.array([0, 0.5, 1, 1.5, -1], np.float32)
    found = plan_of(Query(), abstaining).prediction(scores)
    known = classifier.labels.names
    assert found.abstained == [known[1], known[2]]
    assert [label.label for label in found.labels] == [known[3]]


def test_documents_of_many_chunks_get_their_own_labels_while_they_are_wanted(
    classifier: Classifier,
) -> None:
    plan, asked = plan_of(Query(top_k=2), classifier), []
    texts = [f"{TEXTS[n % 3]} {n}" for n in range(150)]
    found = plan.predictions(texts, still_wanted=lambda: asked.append(True))
    alone = [plan.predictions([text])[0] for text in texts]
    assert [[one.label for one in p.labels] for p in found] == [
        [one.label for one in p.labels] for p in alone
    ]
    assert len(asked) > 1


def test_of_two_bounds_on_the_number_of_labels_the_smaller_one_holds(
    classifier: Classifier,
) -> None:
    ranked = replace(classifier, decision=Decision(None, "rank:2", 2))
    for top_k, expected in ((1, 1), (4, 2)):
        found = names(ranked, Query(top_k=top_k, operating_point="tuned"))
        assert [len(labels) for labels in found] == [expected] * 3
    assert [len(labels) for labels in names(classifier, Query(threshold=-9.0, top_k=3))] == [3] * 3


@pytest.mark.slow
def test_the_command_writes_what_the_plan_gives(
    classifier: Classifier, tiny_models: Path, tmp_path: Path
) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text(
        "".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(TEXTS))
    )

    where = ["--models-dir", str(tiny_models)]

    def run(*options: str) -> list[dict[str, object]]:
        found = subprocess.run(
            [sys.executable, "scripts/predict.py", "tiny", str(file), *options, *where],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return [json.loads(line) for line in found.stdout.splitlines()]

    assert [[one["label"] for one in line["labels"]] for line in run()] == names(
        classifier, Query()
    )
    assert [line["id"] for line in run("--explain", "2")] == ["0", "1", "2"]
    proportional = run("--operating-point", "proportion:1")
    assert sum(len(line["labels"]) for line in proportional) > 0
    assert all("threshold" not in one for line in proportional for one in line["labels"])
