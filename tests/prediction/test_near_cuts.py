"""Which decisions are near their cut."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.artifacts.store import Store
from app.classifier import Classifier
from app.decisions.abstention import Abstention
from app.decisions.calibration.calibration import Calibration
from app.model import load_model
from app.prediction import Query, plan_of
from app.prediction.near_cuts import near_cuts
from app.prediction.tables.rows import doubt_of


@pytest.fixture(scope="module")
def classifier(tiny_models: Path) -> Classifier:
    return load_model(Store(tiny_models), "tiny").classifier


def sigmoids(slopes: list[float], intercepts: list[float]) -> Calibration:
    n = len(slopes)
    nothing = np.zeros(0)
    return Calibration(
        np.array(slopes), np.array(intercepts), np.zeros(n + 1, np.int64), nothing, nothing
    )


def test_between_half_and_double_the_odds_of_the_cut_is_near() -> None:
    cuts = np.array([0.0, -1.0, np.inf, -np.inf], np.float32)
    lower, upper = near_cuts(cuts, sigmoids([1.0, 2.0, 1.0, 1.0], [0.0, 3.0, 0.0, 0.0]), False)
    two = np.log(2)
    assert lower[:2].tolist() == pytest.approx([-two, -1 - two / 2])
    assert upper[:2].tolist() == pytest.approx([two, -1 + two / 2])
    scores = np.linspace(-9, 9, 100)[:, np.newaxis]
    assert not ((scores > lower[2:]) & (scores <= upper[2:])).any()


def test_a_cut_on_probabilities_is_near_by_the_same_odds(classifier: Classifier) -> None:
    calibration = classifier.calibration
    assert calibration is not None
    least = np.full(len(classifier.labels), 0.4, np.float32)
    for bound, odds in zip(near_cuts(least, calibration, True), (1 / 3, 4 / 3), strict=True):
        found = calibration.probabilities(bound[np.newaxis])[0]
        assert found == pytest.approx(odds / (1 + odds), abs=1e-4)


def test_a_curve_that_ends_before_a_probability_is_near_from_there_on() -> None:
    knots = np.array([0.0, 1.0]), np.array([0.3, 0.6])
    curve = Calibration(np.ones(1), np.zeros(1), np.array([0, 2]), *knots)
    found = [curve.scores_at(np.array([p]))[0] for p in (0.2, 0.45, 0.7)]
    assert found == pytest.approx([-np.inf, 0.5, np.inf])


def test_labels_just_below_and_just_above_their_cut_are_named(classifier: Classifier) -> None:
    texts = ["paper jam", "refund the invoice"]
    scores = classifier.scores(texts)
    names = classifier.labels.names
    for column in range(len(names)):
        for distance in (-1e-3, 1e-3, -1e3):
            query = Query(threshold=float(scores[0, column]) + distance, marks_doubt=True)
            prediction = plan_of(query, classifier).predictions(texts)[0]
            assert (names[column] in (prediction.abstained or ())) == (abs(distance) < 1)


def test_only_labels_that_may_come_are_named(classifier: Classifier) -> None:
    cut = float(classifier.scores(["paper jam"])[0, 0])
    query = Query(threshold=cut, labels=(classifier.labels.names[1],), marks_doubt=True)
    assert classifier.labels.names[0] not in (
        plan_of(query, classifier).predictions(["paper jam"])[0].abstained or ()
    )


def test_nothing_is_near_without_cuts_or_without_a_calibration(classifier: Classifier) -> None:
    assert plan_of(Query(top_k=2, marks_doubt=True), classifier).band is None
    assert plan_of(Query(marks_doubt=True), replace(classifier, calibration=None)).band is None
    assert plan_of(Query(), classifier).band is None


def test_what_a_model_abstains_from_is_told_as_such(classifier: Classifier) -> None:
    ends = np.zeros(len(classifier.labels), np.float32)
    abstaining = replace(classifier, abstention=Abstention(0.9, ends - 9, ends + 9))
    for query in (Query(), Query(operating_point="tuned", top_k=2)):
        assert doubt_of(query, abstaining) == "abstained"
        assert (
            plan_of(query._replace(marks_doubt=True), abstaining).band
            == plan_of(query, abstaining).band
        )
    for query in (Query(threshold=0.0), Query(min_probability=0.5), Query(operating_point="f1")):
        assert doubt_of(query, abstaining) == "near the cut"
    assert doubt_of(Query(), classifier) == "near the cut"
