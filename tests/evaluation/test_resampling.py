"""Bootstrap samples: drawn from documents, the same for the same seed."""

import numpy as np
import pytest

from app.evaluation import EvaluationOptions, evaluate, not_worse
from app.evaluation.kept import resampling
from app.evaluation.report.report import Report
from app.metrics.significance.bootstrap import (
    paired_resamples,
    percentile_interval,
    resample_weights,
    two_sided_p,
)
from tests.evaluation.systems import judged, made_up


def test_every_resample_draws_as_many_documents_as_there_are() -> None:
    blocks = list(resample_weights(np.random.default_rng(1), [5, 5, 3], 40))
    assert [block.shape for block in blocks] == [(40, 5), (40, 5), (40, 3)]
    assert np.hstack(blocks).sum(axis=1).tolist() == [13.0] * 40
    assert np.hstack(blocks).mean() == pytest.approx(1.0)


def test_intervals_are_those_of_documents_repeated_as_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resampling, "DOCUMENTS", 16)
    system, documents = made_up(40)
    report = judged(system, documents, bootstrap=8, seed=3)
    blocks = resample_weights(np.random.default_rng([3, 0]), [16, 16, 8], 8)
    weights = np.hstack(list(blocks)).astype(int)
    drawn = [
        judged(system, [d for d, n in zip(documents, row, strict=True) for _ in range(n)])
        for row in weights
    ]
    expected = {
        "micro.f1": [one["decisions"]["micro"]["f1"] for one in drawn],
        "macro.f1": [one["decisions"]["macro"]["f1"] for one in drawn],
        "macro_in_test.f1": [one["decisions"]["macro_in_test"]["f1"] for one in drawn],
        "samples.f1": [one["decisions"]["samples"]["f1"] for one in drawn],
        "subset_accuracy": [one["decisions"]["subset_accuracy"] for one in drawn],
        "PSP@3": [one["ranking"]["PSP@3"] for one in drawn],
        "lrap": [one["ranking"]["lrap"] for one in drawn],
    }
    for name, values in expected.items():
        interval = percentile_interval(np.array(values))
        assert report["confidence"][name] == pytest.approx(interval, abs=1e-12), name


def test_intervals_hold_the_figure_and_depend_on_the_seed_alone() -> None:
    system, documents = made_up(200)
    first = judged(system, documents, bootstrap=60, seed=1)
    again = judged(system, documents, bootstrap=60, seed=1)
    other = judged(system, documents, bootstrap=60, seed=2)
    assert first["confidence"] == again["confidence"] != other["confidence"]
    low, high = first["confidence"]["micro.f1"]
    assert low < first["decisions"]["micro"]["f1"] < high
    assert judged(system, documents)["confidence"] == {}


def test_an_interval_holds_the_middle_95_per_cent() -> None:
    assert percentile_interval(np.arange(1001.0)) == pytest.approx((25.0, 975.0))


def test_every_batch_of_resamples_draws_documents_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resampling, "BATCH", 1)
    low, high = judged(*made_up(50), bootstrap=10)["confidence"]["micro.f1"]
    assert low < high


def test_paired_resamples_draw_both_systems_alike() -> None:
    counts = np.random.default_rng(0).integers(0, 5, (5000, 3)).astype(np.int32)
    first, second = paired_resamples(counts, counts, 10, 0)
    assert (first == second).all()


def test_p_is_never_zero_and_one_where_nothing_differs() -> None:
    assert two_sided_p(np.ones(99)) == pytest.approx(0.02)
    assert two_sided_p(np.zeros(99)) == 1.0
    assert two_sided_p(np.full(99, 0.1 + 0.2 - 0.3)) == 1.0


def report(counts: list[list[int]]) -> Report:
    return Report({}, document_counts=np.array(counts * 50, np.int32))


def test_a_version_is_promoted_unless_it_is_clearly_worse() -> None:
    good, bad = report([[2, 0, 0], [1, 1, 0]]), report([[0, 2, 2], [1, 1, 0]])
    assert not_worse(good, bad) == (True, not_worse(good, bad)[1])
    is_not_worse, sentence = not_worse(bad, good)
    assert not is_not_worse
    assert "worse than the current version's 0.8571" in sentence
    assert not_worse(good, good)[0]


def test_labels_that_a_version_does_not_know_count_as_missed_when_versions_compete() -> None:
    system, documents = made_up(30)
    documents = [type(d)(d.text, (*d.labels, "new"), d.id, d.line) for d in documents]
    counts = evaluate(system, documents, EvaluationOptions()).document_counts
    assert (counts[:, 0] + counts[:, 2]).tolist() == [len(d.labels) for d in documents]
