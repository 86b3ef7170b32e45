"""A group's figures are those of an evaluation that sees nothing but the group."""

from itertools import pairwise

import numpy as np
import pytest

from app.datasets.base import Record
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.measure.groups import DOCUMENT_LABELS
from tests.evaluation.systems import Table, info, judged, made_up
from tests.evaluation.test_report import flat


def test_groups_of_documents_are_measured_as_if_alone() -> None:
    system, documents = made_up(80)
    groups = judged(system, documents)["partitions"]["document_labels"]
    assert sum(group["documents"] for group in groups) == 80
    for group in groups:
        last = group["to"] if group["to"] is not None else 10**9
        own = [d for d in documents if group["from"] <= len(d.labels) <= last]
        alone = judged(system, own)
        assert flat(group["ranking"]) == pytest.approx(flat(alone["ranking"]), abs=1e-12)
        decisions = {k: v for k, v in alone["decisions"].items() if not k.startswith("break_even")}
        assert flat(group["decisions"]) == pytest.approx(flat(decisions), abs=1e-12)


def test_groups_by_length_count_characters() -> None:
    system, documents = made_up(20)
    long = Record("0" * 150, documents[0].labels, "long", 1)
    groups = judged(system, [long, *documents[1:]])["partitions"]["document_length"]
    assert [(group["from"], group["documents"]) for group in groups] == [(0, 19), (100, 1)]


def test_groups_of_labels_are_ranked_among_themselves_for_documents_that_carry_them() -> None:
    system, documents = made_up(80)
    report = evaluate(system, documents, info=info()).as_dict()
    counts = [0, 2, 7, 30, 60, 400]
    for group in report["partitions"]["label_frequency"]:
        last = group["to"] if group["to"] is not None else 10**9
        columns = [c for c, n in enumerate(counts) if group["from"] <= n <= last]
        names = tuple(system.names[c] for c in columns)
        part = Table(system.rows[:, columns], names)
        own = [
            Record(d.text, tuple(label for label in d.labels if label in names), d.id, d.line)
            for d in documents
        ]
        carrying = [d for d in own if d.labels]
        assert group["labels"] == len(names)
        assert group["documents"] == len(carrying)
        alone = evaluate(part, carrying, EvaluationOptions()).as_dict()["ranking"]
        for name in ("P@1", "R@3", "NDCG@5", "lrap", "coverage_error", "ranking_loss", "mrr"):
            assert group["ranking"][name] == pytest.approx(alone[name], abs=1e-12), name
        everywhere = evaluate(part, own, EvaluationOptions()).as_dict()["decisions"]
        for average in ("micro", "macro"):
            expected = flat(everywhere[average])
            assert flat(group["decisions"][average]) == pytest.approx(expected, abs=1e-12)


def test_edges_part_values_as_their_bounds_say() -> None:
    for value in range(0, 30):
        group = int(DOCUMENT_LABELS.group(np.array([value]))[0])
        bounds = DOCUMENT_LABELS.bounds(group)
        assert bounds["from"] is not None
        assert bounds["from"] <= value
        assert bounds["to"] is None or value <= bounds["to"]


LABEL_EDGES = (0, 1, 5, 10, 50, 100, 1000)
LENGTH_EDGES = (0, 100, 300, 1000, 3000, 10_000, 30_000)


def bounds(edges: tuple[int, ...]) -> list[tuple[int, int | None]]:
    """As docs/metrics.md gives them: each group begins at an edge and ends before the next."""
    return [*((start, end - 1) for start, end in pairwise(edges)), (edges[-1], None)]


def test_labels_are_grouped_by_the_training_frequencies_of_the_docs() -> None:
    counts = sorted({0, *LABEL_EDGES[1:], *(edge - 1 for edge in LABEL_EDGES[1:])})
    names = tuple(f"label-{n:05d}" for n in counts)
    system = Table(np.ones((1, len(names)), np.float32), names)
    known = JudgedModel("m", "1", np.array(counts), 5000)
    documents = [Record("0", names, "one", 1)]
    groups = evaluate(system, documents, info=known).as_dict()["partitions"]["label_frequency"]
    assert [(group["from"], group["to"]) for group in groups] == bounds(LABEL_EDGES)
    assert [group["labels"] for group in groups] == [
        sum(start <= n and (end is None or n <= end) for n in counts)
        for start, end in bounds(LABEL_EDGES)
    ]


def test_documents_are_grouped_by_the_lengths_of_the_docs() -> None:
    lengths = sorted({1, *LENGTH_EDGES[1:], *(edge - 1 for edge in LENGTH_EDGES[1:])})
    system = Table(np.ones((1, 2), np.float32), ("a", "b"))
    documents = [Record("0".ljust(n), ("a",), str(n), 1) for n in lengths]
    groups = evaluate(system, documents).as_dict()["partitions"]["document_length"]
    assert [(group["from"], group["to"]) for group in groups] == bounds(LENGTH_EDGES)
    assert [group["documents"] for group in groups] == [
        sum(start <= n and (end is None or n <= end) for n in lengths)
        for start, end in bounds(LENGTH_EDGES)
    ]
    assert {group["labels"] for group in groups} == {1}
