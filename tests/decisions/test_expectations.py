"""What operating points promise is found on new documents; intervals hold what they should."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.decisions.expectation.cross_fit import Ranked, cross_fit
from app.decisions.expectation.estimate import estimated_expectations
from app.decisions.expectation.expectations import BETAS, LEAST_PRICE, PRICES, Expectations
from app.decisions.expectation.growth import Growth
from app.decisions.expectation.label_sample import label_sample
from app.decisions.operating_points import OperatingPoints
from app.decisions.tuning.hulls import Hulls
from app.errors import UnattainableError
from app.heldout import FewerDocuments, HeldOut
from tests.decisions.cases import given_patiently, held_outs

N_PARTS = 5
POINTS = ("precision>=0.7", "recall>=0.6", "f1", "macro:f1", "macro:recall>=0.5")


def sample(n_documents: int, seed: int, n_labels: int = 30) -> tuple[NDArray, NDArray]:
    """Scores that tell the labels moderately well, rare and frequent ones."""
    random = np.random.default_rng(seed)
    true = random.random((n_documents, n_labels)) < np.geomspace(0.2, 0.008, n_labels)
    return (random.standard_normal(true.shape) + 2.2 * true).astype(np.float32), true


def tuned_on(seed: int) -> HeldOut:
    scores, true = sample(500, seed)
    parts = (np.arange(500) % N_PARTS).astype(np.int32)
    return HeldOut.of(scores, csr_array(true), parts=parts)


def figures(cuts: NDArray, scores: NDArray, true: NDArray, *, macro: bool) -> tuple[float, float]:
    marks = scores > cuts
    tp, fp, positives = (marks & true).sum(0), (marks & ~true).sum(0), true.sum(0)
    if not macro:
        return tp.sum() / max(tp.sum() + fp.sum(), 1), tp.sum() / positives.sum()
    counted = positives > 0
    precision = (tp / np.maximum(tp + fp, 1))[counted].mean()
    return float(precision), float((tp[counted] / positives[counted]).mean())


@pytest.fixture(scope="module")
def trials() -> dict[str, NDArray]:
    """Per point and seed: found and promised, and whether the intervals hold what is found."""
    found: dict[str, list[list[float]]] = {name: [] for name in POINTS}
    for seed in range(30):
        held_out = tuned_on(seed)
        points = OperatingPoints(Hulls.of(held_out), estimated_expectations(held_out))
        test = sample(500 // 3, 1000 + seed)
        for name in POINTS:
            decision = points.find(name, nearest=True)
            told = decision.expected
            there = figures(decision.cuts, *test, macro="macro" in name)
            seen = figures(
                decision.cuts,
                held_out.scores,
                held_out.truth.toarray(),
                macro="macro" in name,
            )
            intervals = (told.precision_interval, told.recall_interval)
            inside = [low <= got <= high for got, (low, high) in zip(there, intervals, strict=True)]
            found[name].append([*there, told.precision, told.recall, *seen, *inside])
    return {name: np.array(rows, float) for name, rows in found.items()}


@pytest.mark.parametrize("name", POINTS)
def test_what_is_found_is_on_average_what_was_promised(name: str, trials: dict) -> None:
    rows = trials[name]
    gap = rows[:, :2] - rows[:, 2:4]
    error = 2.5 * gap.std(axis=0) / np.sqrt(len(gap))
    assert (np.abs(gap.mean(axis=0)) <= np.maximum(0.012, error)).all()


def test_what_the_tuned_on_documents_show_is_more_than_is_found(trials: dict) -> None:
    rows = trials["precision>=0.7"]
    assert (rows[:, 4] - rows[:, 0]).mean() > 0.03


def test_intervals_hold_about_nine_of_ten_findings(trials: dict) -> None:
    held = np.concatenate([rows[:, 6:].ravel() for rows in trials.values()])
    assert 0.8 <= held.mean() <= 0.98


@given_patiently(held_outs())
def test_cuts_of_choices_are_the_best_there_are(held_out: HeldOut) -> None:
    for column in held_out.columns():
        ranked = Ranked.of(column)
        if not len(ranked.right):
            continue
        candidates = np.concatenate([[np.inf], np.nextafter(ranked.right, -np.inf)])
        every = ranked.counts(candidates.astype(np.float32))
        chosen = ranked.counts(ranked.cuts())
        worth = every.tp[:, None] - PRICES * (every.tp + every.fp)[:, None]
        by_price = chosen.by_price()
        assert np.allclose(by_price.tp - PRICES * (by_price.tp + by_price.fp), worth.max(axis=0))
        by_beta = chosen.by_beta()
        last = worth[:, np.searchsorted(PRICES, LEAST_PRICE)].max()
        assert (by_beta.tp - LEAST_PRICE * (by_beta.tp + by_beta.fp) <= last + 1e-9).all()


def test_parts_are_counted_by_cuts_of_the_other_parts() -> None:
    held_out = tuned_on(1)
    first = next(iter(cross_fit(held_out, held_out.parts)))
    label = int(np.argmax(np.diff(held_out.truth.indptr)))
    scores, marks = held_out.scores[:, label], held_out.truth.toarray()[:, label]
    for part in range(N_PARTS):
        inside, outside = held_out.parts == part, held_out.parts != part
        alone = HeldOut.of(scores[outside, None], csr_array(marks[outside, None]))
        cuts = Ranked.of(alone.column(0)).cuts()
        assigned = scores[inside, None] > cuts
        np.testing.assert_array_equal(
            first.inside.tp[part], (assigned & marks[inside, None]).sum(axis=0)
        )
        np.testing.assert_array_equal(
            first.inside.fp[part], (assigned & ~marks[inside, None]).sum(axis=0)
        )
        assert first.positives[part] == marks[inside].sum()


def test_what_more_documents_change_goes_on_like_one_over_documents() -> None:
    held_out = tuned_on(2)
    rows = np.flatnonzero(held_out.parts < 2)
    labels = np.arange(held_out.n_labels)
    fewer = FewerDocuments(
        rows, labels, np.ones(len(labels)), held_out.scores[rows] - 0.2, 0.6, 0.8
    )
    growth = Growth.of(replace(held_out, fewer=fewer))
    assert (growth.tp > 1).all()
    assert (growth.fp > 1).all()
    same = Growth.of(replace(held_out, fewer=fewer._replace(scores=held_out.scores[rows])))
    np.testing.assert_allclose(same.tp, 1)
    np.testing.assert_allclose(same.macro_recall, 0)
    twice = Growth.of(replace(held_out, fewer=fewer._replace(share=0.4)))
    assert (np.log(twice.tp) < np.log(growth.tp)).all()


def test_a_sample_of_labels_stands_for_all_of_them() -> None:
    counts = np.random.default_rng(0).integers(0, 50, 1000)
    chosen = label_sample(counts, most_frequent=20, others=30)
    assert len(set(chosen.labels.tolist())) == 50
    assert abs(chosen.weights.sum() - (counts > 0).sum()) < 1e-9
    assert set(chosen.labels[:20]) == set(np.argsort(-counts, kind="stable")[:20])
    estimated = (counts[chosen.labels] * chosen.weights).sum()
    assert abs(estimated / counts.sum() - 1) < 0.1


def test_a_stored_expectation_comes_back_equal() -> None:
    told = estimated_expectations(tuned_on(3))
    again = Expectations.from_state(told.state())
    for average, places in (("micro", PRICES), ("macro", BETAS)):
        np.testing.assert_array_equal(again.at(average, places), told.at(average, places))


@pytest.mark.parametrize("n_documents", [1, 2, 7])
def test_few_documents_make_no_trouble(n_documents: int) -> None:
    scores, true = sample(n_documents, 0, 3)
    true[0, 0] = True
    held_out = HeldOut.of(scores, csr_array(true))
    points = OperatingPoints(Hulls.of(held_out), estimated_expectations(held_out))
    told = points.find("precision>=0.5", nearest=True).expected
    assert 0 <= told.precision <= 1
    assert 0 <= told.recall <= 1


def test_the_nearest_point_says_whether_it_is_met_and_others_are_refused_with_the_best() -> None:
    held_out = tuned_on(4)
    points = OperatingPoints(Hulls.of(held_out), estimated_expectations(held_out))
    with pytest.raises(UnattainableError) as refused:
        points.find("precision>=0.999")
    best = refused.value.best["precision"]
    assert points.find(f"precision>={best - 1e-6:.6f}").expected.met is None
    assert points.find("precision>=0.999", nearest=True).expected.met is False
    assert points.find("precision>=0.6", nearest=True).expected.met is True


def test_each_label_reaches_its_own_precision_or_is_named() -> None:
    held_out, test = tuned_on(5), sample(4000, 77)
    points = OperatingPoints(Hulls.of(held_out), estimated_expectations(held_out))
    decision = points.find("each:precision>=0.7")
    is_never = np.isinf(decision.cuts)
    assert decision.unreached.tolist() == np.flatnonzero(is_never).tolist()
    assert 0 < is_never.sum() < len(is_never)
    marks = test[0] > decision.cuts
    right, assigned = (marks & test[1]).sum(axis=0), marks.sum(axis=0)
    assert (right[~is_never] / assigned[~is_never]).mean() >= 0.7
    hulls = Hulls.of(held_out)
    for label in range(held_out.n_labels):
        mine = slice(hulls.offsets[label], hulls.offsets[label + 1])
        passing = hulls.tp[mine] >= 0.7 * (hulls.tp[mine] + hulls.fp[mine] + 2)
        assert passing.any() == (not is_never[label])
    with pytest.raises(UnattainableError):
        points.find("each:precision>=1")


def test_the_curve_rises_in_recall_and_has_intervals() -> None:
    held_out = tuned_on(6)
    points = OperatingPoints(Hulls.of(held_out), estimated_expectations(held_out))
    for average in ("micro", "macro"):
        curve = points.curve(average, most=20)
        assert 5 < len(curve) <= 20
        assert curve[0].recall < curve[-1].recall
        for point in curve:
            low, high = point.precision_interval
            assert 0 <= low <= point.precision <= high <= 1
    nothing = OperatingPoints(Hulls.of(HeldOut.of(np.zeros((2, 1)), csr_array((2, 1), dtype=bool))))
    assert nothing.curve("micro") == []


def test_a_label_without_a_step_that_pays_is_not_assigned_at_any_score() -> None:
    scores = np.array([[3.0, 0.0], [2.0, 1.0], [1.0, 0.5], [0.0, 2.0]], np.float32)
    true = csr_array(np.array([[1, 1], [1, 0], [0, 0], [0, 0]], bool))
    decision = OperatingPoints(Hulls.of(HeldOut.of(scores, true))).find("precision>=1")
    assert np.isfinite(decision.cuts[0])
    assert decision.cuts[1] == np.inf
