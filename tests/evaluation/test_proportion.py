"""The proportional cut against its definition."""

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from app.decisions.base import Batch
from app.decisions.rules.proportion_cut import ProportionCut
from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, chunks, evaluate
from tests.evaluation.systems import info, judged, made_up


@pytest.mark.parametrize("x", [0.3, 1.0, 2.5])
def test_every_label_gets_its_share_of_the_best_documents(
    x: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 9)
    system, documents = made_up(70)
    report = judged(system, documents, decision=f"proportion:{x}")
    frequencies = info().training_counts
    assert frequencies is not None
    for column, label in enumerate(report["labels"]):
        wanted = min(math.floor(x * 70 * frequencies[column] / 1000 + 0.5), 70)
        ranked = sorted(range(70), key=lambda row: (-system.rows[row, column], row))
        given = [row for row in ranked[:wanted] if system.rows[row, column] > -np.inf]
        right = sum(label["label"] in documents[row].labels for row in given)
        assert (label["tp"], label["fp"]) == (right, len(given) - right)


def test_without_training_frequencies_or_all_scores_it_is_refused() -> None:
    system, documents = made_up(20)
    with pytest.raises(InvalidRequestError, match="training frequencies"):
        evaluate(system, documents, EvaluationOptions(decision="proportion:1"))
    with pytest.raises(InvalidRequestError, match="all scores at once"):
        judged(system, documents, decision="proportion:1", max_scores=10)


@dataclass(eq=False)
class Watched:
    """A document that can be watched until it is forgotten."""

    id: str | None
    text: str
    labels: tuple[str, ...]
    line: int
    features: Any = None


def test_the_texts_of_earlier_documents_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 5)
    system, documents = made_up(60)
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    most = 0

    def read() -> Iterator[Any]:
        nonlocal most
        for one in documents:
            document = Watched(one.id, one.text, one.labels, one.line)
            alive.add(document)
            most = max(most, len(alive))
            yield document

    report = judged(system, read(), decision="proportion:1")
    assert report["data"]["documents"] == 60
    assert most <= 11


@pytest.mark.parametrize("x", [".5", "1.", "1e-1", "1000000"])
def test_files_and_batches_are_decided_alike_however_x_is_written(
    x: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 9)
    system, documents = made_up(70)
    report = judged(system, documents, decision=f"proportion:{x}")
    counts = info().training_counts
    assert counts is not None
    rule = ProportionCut.read(f"proportion:{x}")
    assert rule is not None
    decision = rule.batch_decision(Batch(70, system.rows.T, counts / 1000))
    given = [label["tp"] + label["fp"] for label in report["labels"]]
    assert given == decision.decide(system.rows).sum(axis=0).tolist()
    assert report["conventions"]["decision"] == decision.name == rule.name


@pytest.mark.parametrize("x", ["", "0", "-1", "nan", "inf", "1e7", "x", "1:2"])
def test_what_is_no_proportion_is_refused_alike(x: str) -> None:
    system, documents = made_up(20)
    with pytest.raises(InvalidRequestError, match="accepted: proportion:X"):
        judged(system, documents, decision=f"proportion:{x}")
    with pytest.raises(InvalidRequestError, match="accepted: proportion:X"):
        ProportionCut.read(f"proportion:{x}")
