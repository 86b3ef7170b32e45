"""Learning curves: their points, what they foretell, and the labels that need more examples."""

from typing import Any

import numpy as np
import pytest

from app.datasets.base import Summary
from app.datasets.collection import Collection
from app.errors import InvalidDataError
from app.training.learning_curve import points as curve_points
from app.training.learning_curve.extrapolation import Point, extrapolate, points_of
from app.training.learning_curve.label_needs import RISING, TOO_FEW, label_needs
from app.training.learning_curve.outcomes import LabelOutcome, LearningPoint
from app.training.learning_curve.points import curve, curve_sizes
from app.training.learning_curve.summary import curve_summary
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train

SIZES = (250, 500, 1000, 2000)


def power_law(ceiling: float, slope: float, exponent: float, error: float = 0.001) -> list[Point]:
    return [Point(n, ceiling - slope * n**-exponent, error) for n in SIZES]


@pytest.mark.parametrize(
    ("ceiling", "slope", "exponent"), [(0.9, 4.0, 0.5), (0.8, 30.0, 1.0), (0.95, 2.0, 0.3)]
)
def test_a_power_law_is_foretold_within_its_interval(
    ceiling: float, slope: float, exponent: float
) -> None:
    points = power_law(ceiling, slope, exponent)
    for further in (4000, 16000):
        expected = extrapolate(points, further)
        truth = ceiling - slope * further**-exponent
        assert expected.low < truth < expected.high
        assert expected.value == pytest.approx(truth, abs=0.03)
        assert expected.documents == further


def test_the_interval_widens_with_distance_and_with_the_error_of_the_points() -> None:
    near, far = (extrapolate(power_law(0.9, 4, 0.5), n) for n in (4000, 32000))
    assert far.high - far.low > 1.3 * (near.high - near.low)
    noisy = extrapolate(power_law(0.9, 4, 0.5, error=0.02), 4000)
    assert noisy.high - noisy.low > 1.3 * (near.high - near.low)


def test_more_documents_are_never_expected_to_do_harm_nor_to_be_better_than_perfect() -> None:
    falling = [Point(n, 0.8 - n / 1e5, 0.001) for n in SIZES]
    assert extrapolate(falling, 4000).value == pytest.approx(np.mean([p.value for p in falling]))
    steep = [Point(n, 0.2 * np.log2(n / 100), 0.001) for n in SIZES]
    expected = extrapolate(steep, 64000)
    assert 0.8 < expected.value <= 1
    assert expected.high <= 1


def test_the_error_of_points_is_the_spread_over_repeats() -> None:
    values = np.array([[0.5, 0.7], [0.6, 0.8]])
    points = points_of([100, 200], values)
    assert [point.value for point in points] == pytest.approx([0.55, 0.75])
    assert points[0].error == pytest.approx(0.1 / 2**0.5 / 2**0.5)
    assert points_of([100, 200], values[:1])[0].error == 0


def test_too_few_documents_are_refused_with_the_number_that_is_needed() -> None:
    assert curve_sizes(1600) == [100, 200, 400, 800, 1600]
    assert curve_sizes(200) == [50, 100, 200]
    with pytest.raises(InvalidDataError, match="at least 200 documents"):
        curve_sizes(190)


def point(**labels: tuple[int, int, int, int]) -> LearningPoint:
    counts = {name: LabelOutcome(*own) for name, own in labels.items()}
    return LearningPoint(0, 100, 50, {}, counts)


def test_labels_that_gain_by_examples_come_first_then_those_with_hardly_any() -> None:
    halves = [
        point(gains=(30, 20, 20, 30), same=(40, 40, 5, 5), rare=(2, 0, 0, 3), new=(0, 0, 0, 2))
    ]
    wholes = [
        point(gains=(60, 40, 10, 10), same=(80, 41, 5, 4), rare=(4, 1, 0, 2), new=(0, 0, 0, 2))
    ]
    needs = label_needs(halves, wholes)
    assert [(need.label, need.verdict) for need in needs] == [
        ("gains", RISING),
        ("rare", TOO_FEW),
        ("new", TOO_FEW),
        ("same", ""),
    ]
    gains = needs[0]
    assert (gains.examples, gains.test_documents) == (60, 50)
    assert gains.half_f1 == pytest.approx(40 / 90)
    assert gains.f1 == pytest.approx(0.8)
    assert 0.05 < gains.standard_error < 0.15


def test_a_gain_that_chance_explains_is_none_and_one_lucky_document_is_no_proof() -> None:
    (need,) = label_needs([point(few=(10, 0, 0, 1))], [point(few=(20, 1, 0, 0))])
    assert need.gain == 1
    assert need.standard_error > 0.6
    assert need.verdict == ""
    (need,) = label_needs([point(noisy=(10, 3, 2, 3))], [point(noisy=(20, 4, 2, 2))])
    assert need.gain > 0.1
    assert need.verdict == ""


def corpus(n: int) -> Collection:
    """Two labels by their words, one of them clear and one that takes many examples."""
    pick = np.random.default_rng(0)
    texts, label_sets = [], []
    for i in range(n):
        label = "clear" if pick.random() < 0.5 else "hard"
        words = [f"{label}"] if label == "clear" else [f"rare{pick.integers(150)}"]
        texts.append(" ".join([*words, *(f"noise{k}" for k in pick.integers(0, 50, 5)), f"own{i}"]))
        label_sets.append((label,))
    return Collection(texts, label_sets, [None] * n, Summary())


def test_parts_are_nested_and_nothing_that_is_judged_was_trained_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[set[str]] = []

    def watched(job: TrainingJob, progress: Any) -> Any:
        seen.append(set(job.data.documents))
        return train(job, progress)

    monkeypatch.setattr(curve_points, "train", watched)
    recipe = read_recipe(None, changes=["decision.resamples=2", "decision.folds=2"])
    data = corpus(400)
    repeats = list(curve(TrainingJob(data, recipe), 2, 0.5))
    sizes = [50, 100, 200]
    assert [[own.documents for own in points] for points in repeats] == [sizes, sizes]
    for first in (0, 3):
        assert seen[first] < seen[first + 1] < seen[first + 2]
    assert seen[2] != seen[5]
    last = repeats[0][-1]
    assert last.test_documents == 200
    judged = sum(own.tp + own.fn for own in last.labels.values())
    assert judged == 200
    assert sum(own.examples for own in last.labels.values()) == 200
    found = curve_summary(repeats, 1000)
    assert found["sizes"] == sizes
    micro = found["figures"]["micro-F1"]
    assert micro["points"][0]["value"] < micro["points"][-1]["value"]
    assert micro["expected"]["documents"] == 1000
    assert micro["check"] is None  # two points foretell nothing
    again = curve_summary(list(curve(TrainingJob(data, recipe), 2, 0.5)), 1000)
    assert again == found
