"""Operating points keep their promise wherever any cuts can, and say the best where none can."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.sparse import csr_array

from app.decisions.operating_points import CACHED, OperatingPoints
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.pr_curve import AVERAGES, pr_curve
from app.errors import InvalidRequestError, UnattainableError
from app.heldout import HeldOut
from tests.decisions.cases import counts, dense_truth, every_decision, given_patiently, held_outs

BOUNDS = st.sampled_from(["0.25", "0.5", "0.6", "0.75", "0.9", "1"])
MEASURES = st.sampled_from(["precision", "recall"])


def some_hulls(n_documents: int = 300, n_labels: int = 12, seed: int = 0) -> Hulls:
    random = np.random.default_rng(seed)
    scores = random.standard_normal((n_documents, n_labels)).astype(np.float32)
    truth = scores + random.standard_normal(scores.shape) > np.linspace(0.5, 3, n_labels)
    return Hulls.of(HeldOut.of(scores, csr_array(truth)))


@given_patiently(held_outs(), MEASURES, BOUNDS)
def test_a_micro_bound_is_met_exactly_when_some_cuts_meet_it(
    held_out: HeldOut, measure: str, bound: str
) -> None:
    truth = dense_truth(held_out)
    best = 0.0
    for marks in every_decision(held_out.scores):
        tp, fp = counts(marks, truth)
        parts = {"precision": tp + fp, "recall": int(truth.sum())}
        best = max(best, tp / max(parts[measure], 1))
    points = OperatingPoints(Hulls.of(held_out))
    if best < float(bound):
        with pytest.raises(UnattainableError) as refused:
            points.find(f"{measure}>={bound}")
        assert abs(refused.value.best[measure] - best) < 1e-12
        return
    found = points.find(f"{measure}>={bound}")
    tp, fp = counts(held_out.scores > found.cuts, truth)
    assert (found.expected.precision, found.expected.recall) == (tp / (tp + fp), tp / truth.sum())
    assert getattr(found.expected, measure) >= float(bound)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("bound", [0.3, 0.6, 0.8])
def test_no_point_of_a_fine_curve_is_better(average: str, bound: float) -> None:
    hulls = some_hulls()
    prefix = "macro:" if average == "macro" else ""
    curve = pr_curve(hulls, average, m=100)[1:-1]
    found = OperatingPoints(hulls).find(f"{prefix}recall>={bound}")
    assert found.expected.recall >= bound - 1e-12
    assert found.expected.precision >= max(p.precision for p in curve if p.recall >= bound) - 1e-12
    found = OperatingPoints(hulls).find(f"{prefix}precision>={bound}")
    assert found.expected.precision >= bound - 1e-12
    assert found.expected.recall >= max(p.recall for p in curve if p.precision >= bound) - 1e-12


@pytest.mark.parametrize("name", ["f1", "f0.5", "f2", "macro:f1", "macro:f2"])
def test_f_points_are_the_cuts_of_the_highest_f(name: str) -> None:
    hulls = some_hulls()
    found = OperatingPoints(hulls).find(name)
    vertices_of, figures = AVERAGES["macro" if "macro" in name else "micro"]
    vertices = vertices_of(hulls, float(name.rpartition("f")[2]))
    is_never = vertices == hulls.offsets[:-1]
    np.testing.assert_array_equal(found.cuts, np.where(is_never, np.inf, hulls.cuts[vertices]))
    expected = found.expected.precision, found.expected.recall
    np.testing.assert_allclose(expected, figures(hulls, vertices), atol=1e-12)


@pytest.mark.parametrize(
    "name",
    ["", "f3", "precision>=", "precision>=0", "recall>=1.5", "recall>0.5", "Macro:f1", "tuned"],
)
def test_other_names_are_refused_with_what_is_accepted(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="accepted: precision>=P"):
        OperatingPoints(some_hulls()).find(name)


def test_spellings_of_one_point_share_a_cached_answer_and_the_cache_stays_small() -> None:
    points = OperatingPoints(some_hulls(40, 2))
    with ThreadPoolExecutor(8) as threads:
        names = ["recall>=0.5", "recall>=.50", "recall>=0.500"] * 20
        found = list(threads.map(points.find, names))
    assert {id(point) for point in found} == {id(found[0])}
    for thousandth in range(1, 3 * CACHED):
        points.find(f"recall>={thousandth / 1000}")
    assert len(points._found) == CACHED


def test_the_curve_falls_from_its_fixed_ends_and_has_no_dominated_point() -> None:
    for average in ("micro", "macro"):
        curve = pr_curve(some_hulls(), average)
        assert (curve[0].precision, curve[0].recall) == (1.0, 0.0)
        assert (curve[-1].precision, curve[-1].recall) == (0.0, 1.0)
        inner = curve[1:-1]
        assert all(a.recall < b.recall for a, b in pairwise(inner))
        assert all(a.precision > b.precision for a, b in pairwise(inner))


def test_without_any_positive_every_bound_is_unattainable() -> None:
    hulls = Hulls.of(HeldOut.of(np.zeros((3, 2), np.float32), csr_array((3, 2), dtype=np.bool_)))
    for name in ("precision>=0.5", "macro:recall>=0.1"):
        with pytest.raises(UnattainableError):
            OperatingPoints(hulls).find(name)
    assert OperatingPoints(hulls).find("f1").expected.recall == 0
