"""A group's figures are those of an evaluation that sees nothing but the group."""

import numpy as np
import pytest

from app.datasets.base import Record
from app.evaluation import EvaluationOptions, evaluate
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
        decisions = {k: v for k, v in alone["decisions"].items() if k != "break_even"}
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
