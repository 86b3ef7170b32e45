"""Rows of which few labels have a score: the same figures as from the whole array, exactly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.datasets.base import Record
from app.errors import InvalidDataError
from app.evaluation import EvaluationOptions, JudgedModel, chunks, evaluate
from app.evaluation.measure import decided_chunk
from app.evaluation.storage import pair_score_file
from app.metrics.counting import score_rows
from app.metrics.counting.true_ranks import TrueRanks
from tests.evaluation.systems import Table, documents_of, judged
from tests.evaluation.test_certainty import ByScore
from tests.evaluation.test_report import flat
from tests.metrics import literal
from tests.metrics.cases import sparse

DENSE, SPARSE = 1_000_000, 1
few = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def systems(draw: Any) -> tuple[Table, list[Record]]:
    """Ties, documents and labels without a score, unlabelled documents, zero-shot labels."""
    n, m = draw(st.integers(1, 25)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = (rng.integers(0, 9, (n, m)) / 8).astype(np.float32)
    scores[rng.random((n, m)) < draw(st.sampled_from([0.0, 0.5, 0.9, 1.0]))] = -np.inf
    names = tuple(f"label-{column}" for column in range(m))
    share = draw(st.sampled_from([0.0, 0.2, 0.6]))
    truth = rng.random((n, m + 2)) < share
    if draw(st.booleans()):
        truth = np.eye(m, dtype=bool)[rng.integers(0, m, n)]
    known = [*names, "zero-shot-1", "zero-shot-2"]
    label_sets = [[known[column] for column in np.flatnonzero(row)] for row in truth]
    return Table(scores, names, calibration=ByScore()), documents_of(label_sets)


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 3)
    monkeypatch.setattr(decided_chunk, "DOCUMENTS", 7)
    monkeypatch.setattr(pair_score_file, "RUN", 20)
    monkeypatch.setattr(pair_score_file, "BLOCK", 15)


def report(system: Table, documents: list[Record], form: int, **options: Any) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_rows, "SPARSE", form)
        found = judged(system, documents, **options)
    return {name: part for name, part in found.items() if name != "seconds"}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """All parts; sums over chunks of other sizes may differ in the last bit."""
    assert one.keys() == other.keys()
    for name in one:
        assert flat(one[name]) == pytest.approx(flat(other[name]), abs=1e-12), name


@pytest.mark.usefixtures("in_small_pieces")
@few
@given(systems(), st.sampled_from(["tuned", "rank:2", "proportion:200"]), st.booleans())
def test_the_report_is_that_of_the_whole_array(case: Any, decision: str, zero_shot: bool) -> None:
    options = {"decision": decision, "include_test_labels": zero_shot, "bootstrap": 3}
    whole = report(*case, DENSE, **options)
    assert_same(report(*case, SPARSE, **options), whole)
    assert whole["conventions"]["exact_curves"]


@pytest.mark.usefixtures("in_small_pieces")
@few
@given(systems())
def test_the_figures_are_as_defined(case: Any) -> None:
    system, documents = case
    found = report(system, documents, SPARSE)
    columns = system.labels.columns
    relevant = [{columns[one] for one in d.labels if one in columns} for d in documents]
    truth = np.zeros(system.rows.shape, bool)
    for row, true in enumerate(relevant):
        truth[row, list(true)] = True
    one = literal.Case(system.rows, truth, system.rows > 0, tuple(training_counts(system)), 1000)
    for name, figure in literal.RANKING.items():
        key = name.replace("@K", "@3")
        assert flat(found["ranking"][key]) == pytest.approx(flat(figure(one, 3)), abs=1e-12), key
    for label, (scores, true) in enumerate(zip(system.rows.T, truth.T, strict=True)):
        expected = literal.average_precision(scores, true)
        assert found["labels"][label]["average_precision"] == pytest.approx(expected)
    if truth.any():
        point = found["decisions"]["break_even"]
        expected_point = literal.break_even(system.rows, truth)
        assert (point["value"], point["gap"]) == pytest.approx(expected_point)


def training_counts(system: Table) -> list[int]:
    return ([0, 2, 7, 30, 60, 400] * 2)[: len(system.names)]


@few
@given(systems())
def test_ranks_of_pairs_are_those_of_the_array(case: Any) -> None:
    scores = case[0].rows
    truth = sparse(np.random.default_rng(0).random(scores.shape) < 0.5)
    whole, pairs = score_rows.DenseRows(scores), score_rows.ScoredPairs.of(scores)
    for one, other in zip(_taken(whole, truth), _taken(pairs, truth), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(pairs.array(), scores)


def _taken(rows: score_rows.ScoreRows, truth: Any) -> Iterator[Any]:
    ranked = TrueRanks.of_rows(rows, truth)
    yield from (ranked.rank, ranked.at_least, rows.best())
    even = np.arange(0, rows.n_documents, 2), np.arange(0, rows.n_columns, 2)
    part = TrueRanks.of_rows(rows.take(*even), sparse(truth.toarray()[np.ix_(*even)]))
    yield from (part.rank, part.at_least)


def test_sparse_and_dense_rows_may_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 4)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, 12)).astype(np.float32)
    empty = np.repeat([0, 1, 1, 0, 1, 0, 0, 1, 0, 1], 4).astype(bool)
    scores[empty] = np.where(rng.random((20, 12)) < 0.95, -np.inf, scores[empty])
    names = tuple(f"label-{column:02}" for column in range(12))
    documents = documents_of([[names[c]] for c in rng.integers(0, 12, 40)])
    system = Table(scores, names)
    for turned in (system, Table(scores[::-1], names)):
        for decision in ("tuned", "proportion:300"):
            mixed = report(turned, documents, 8, decision=decision)
            assert_same(mixed, report(turned, documents, DENSE, decision=decision))


def test_a_score_that_is_not_a_number_is_refused() -> None:
    system = Table(np.float32([[0.5, np.nan], [1.0, 2.0]]), ("a", "b"))
    with pytest.raises(InvalidDataError, match="not a number"):
        evaluate(system, documents_of([["a"], ["b"]]), EvaluationOptions(), info=JudgedModel())
