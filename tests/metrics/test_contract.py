"""What every metric of the catalogue must keep: range, empty cases, its definition, chunks."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import metrics
from app.metrics import decision_metrics, label_metrics, measures, ranking_metrics
from app.metrics.base import (
    DecisionMetric,
    DocumentDecisionMetric,
    LabelMetric,
    Measure,
    RankingMetric,
)
from app.metrics.counting.cells import Averaging
from app.metrics.propensity import inverse_propensities
from app.metrics.suite import suite
from tests.metrics import literal
from tests.metrics.cases import scored, sparse

KS = (1, 3, 9)
TRAINING_COUNTS = (0, 1, 4, 9, 20, 30, 45)
FAMILIES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "ranking": (ranking_metrics(), RankingMetric, literal.RANKING),
    "measures": (measures(), Measure, literal.MEASURES),
    "decisions": (decision_metrics(), DecisionMetric | DocumentDecisionMetric, literal.DECISIONS),
    "labels": (label_metrics(), LabelMetric, literal.LABELS),
}
NAN = float("nan")


def case(scores: Any, truth: Any, **conventions: Any) -> literal.Case:
    rows, true = np.array(scores, np.float32), np.array(truth, np.bool_)
    counts = TRAINING_COUNTS[: rows.shape[1]]
    return literal.Case(rows, true, rows > 0, counts, **conventions)


HAND = {
    "no documents": case(np.zeros((0, 3)), np.zeros((0, 3))),
    "one document": case([[0.3, -0.2, 0.9]], [[1, 0, 0]]),
    "one label": case([[0.3], [-0.1], [0.2]], [[1], [1], [0]]),
    "all labels are true": case([[0.3, -0.2], [0.1, 0.9]], [[1, 1], [1, 1]]),
    "all scores are tied": case(np.full((3, 4), 0.5), [[1, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]]),
    "documents without labels": case([[0.3, -0.2], [0.1, 0.9]], [[0, 0], [0, 1]]),
    "no label is true": case([[0.3, -0.2], [0.1, 0.9]], [[0, 0], [0, 0]]),
    "nothing has a score": case(np.full((2, 3), -np.inf), [[1, 0, 1], [0, 0, 0]]),
    "nothing is assigned": case([[-1.0, -2.0], [-3.0, -4.0]], [[1, 0], [0, 1]]),
}


def figures(one: literal.Case, **options: Any) -> dict[str, Any]:
    inverse = inverse_propensities(np.array([*one.training_counts, 0]), one.n_training)
    averaging = Averaging(one.zero_division, one.beta)  # type: ignore[arg-type]
    options = {"ks": KS, "inverse": inverse, **options}
    return suite(one.scores, sparse(one.truth), one.marks, averaging=averaging, **options)


def expected(one: literal.Case) -> dict[str, Any]:
    at_k = [name for name in metrics.RANKING_METRICS if name.endswith("@K")]
    whole = [name for name in metrics.RANKING_METRICS if not name.endswith("@K")]
    ranking = {f"{name[:-1]}{k}": literal.RANKING[name](one, k) for k in KS for name in at_k}
    averages = {name: literal.averages(name, one) for name in metrics.MEASURES}
    columns = list(zip(one.scores.T, one.truth.T, strict=True))
    return {
        "ranking": {**ranking, **{name: literal.RANKING[name](one, 0) for name in whole}},
        "decisions": {
            **{
                average: {name: averages[name][average] for name in averages}
                for average in ("micro", "macro", "macro_in_test", "weighted", "samples")
            },
            **{name: literal.DECISIONS[name](one) for name in metrics.DECISION_METRICS},
        },
        **{
            name: [literal.LABELS[name](*column) for column in columns]
            for name in metrics.LABEL_METRICS
        },
    }


def flat(value: Any, path: str = "") -> dict[str, float]:
    """All numbers of a nested structure by their path; NaN for None."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return {path: NAN if value is None else float(value)}
    return {key: n for name, item in items for key, n in flat(item, f"{path}.{name}").items()}


def without_break_even(found: dict[str, Any]) -> dict[str, Any]:
    decisions = {name: one for name, one in found["decisions"].items() if name != "break_even"}
    return {**found, "decisions": decisions}


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    ours, theirs = flat(found), flat(wanted)
    assert list(ours) == list(theirs)
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_the_catalogue_loads_a_metric_of_its_family(family: str) -> None:
    loaded, kind, _ = FAMILIES[family]
    assert all(isinstance(metric, kind) for metric in loaded.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_the_catalogue_has_a_literal_version(family: str) -> None:
    loaded, _, literals = FAMILIES[family]
    assert list(literals) == list(loaded)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_metric_says_what_it_returns(family: str) -> None:
    for name, metric in FAMILIES[family][0].items():
        function = metric.value if hasattr(metric, "value") else metric.values
        assert (function.__doc__ or "").strip(), name


def test_every_name_of_the_catalogue_is_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    documented = set(re.findall(r"`([^`]+)`", page))
    names = {name for loaded, _, _ in FAMILIES.values() for name in loaded}
    assert names - documented == set()


@pytest.mark.parametrize("zero_division", ["0", "1", "skip"])
@pytest.mark.parametrize("name", HAND)
def test_hand_cases_give_the_values_of_the_definition(name: str, zero_division: str) -> None:
    hand = HAND[name]
    one = literal.Case(
        hand.scores, hand.truth, hand.marks, hand.training_counts, 50, zero_division, 2.0
    )
    assert_same(without_break_even(figures(one)), expected(one))


@settings(max_examples=60, deadline=None)
@given(scored(), st.sampled_from(["0", "1", "skip"]), st.sampled_from([0.5, 1.0, 3.0]))
def test_any_case_gives_the_values_of_the_definition(found: Any, zero: str, beta: float) -> None:
    one = case(*found, zero_division=zero, beta=beta)
    assert_same(without_break_even(figures(one)), expected(one))


@settings(max_examples=60, deadline=None)
@given(scored(), st.sampled_from(["0", "1"]))
def test_every_figure_is_finite_and_within_its_range(found: Any, zero: str) -> None:
    assert_within_range(figures(case(*found, zero_division=zero)))


@pytest.mark.parametrize("name", HAND)
def test_hand_cases_give_finite_figures_within_range(name: str) -> None:
    assert_within_range(figures(HAND[name]))


def assert_within_range(found: dict[str, Any]) -> None:
    at_k = {f"{name[:-1]}{k}": name for name in metrics.RANKING_METRICS for k in KS}
    for name, value in found["ranking"].items():
        metric = ranking_metrics()[at_k.get(name, name)]
        assert_bounded(value, metric.upper, name)
    for name, metric in decision_metrics().items():
        assert_bounded(found["decisions"][name], metric.upper, name)
    for average in ("micro", "macro", "macro_in_test", "weighted", "samples"):
        for name, measure in measures().items():
            assert_bounded(found["decisions"][average][name], measure.upper, name)
    for name, label_metric in label_metrics().items():
        assert_bounded(found[name], label_metric.upper, name)


def assert_bounded(value: Any, upper: float, name: str) -> None:
    """None is a figure that is not defined; everything else is a number from 0 to `upper`."""
    numbers = [number for number in flat(value).values() if not math.isnan(number)]
    assert all(0 <= number <= upper + 1e-12 for number in numbers), name
    assert all(math.isfinite(number) for number in numbers), name


def test_figures_that_need_propensities_are_none_without_them_and_no_others() -> None:
    found = figures(HAND["one document"], inverse=None)["ranking"]
    needing = {name for name, one in ranking_metrics().items() if one.needs_propensity}
    missing = {re.sub(r"\d+$", "K", name) for name, value in found.items() if value is None}
    assert missing == needing == {"PSP@K", "PSnDCG@K"}


@settings(max_examples=30, deadline=None)
@given(scored(documents=20))
def test_documents_in_chunks_give_the_figures_of_the_whole(found: Any) -> None:
    one = case(*found)
    whole = figures(one)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.metrics.suite.CELLS", 3 * one.scores.shape[1])
        assert_same(figures(one), whole)
