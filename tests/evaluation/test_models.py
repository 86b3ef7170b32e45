"""Real models are judged by every decision they offer; files are left behind by none."""

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.artifacts.store import Store
from app.datasets.base import Record
from app.datasets.reading import open_dataset
from app.decisions.abstention import Abstention
from app.errors import InvalidDataError, InvalidRequestError
from app.evaluation import EvaluationOptions, chunks, evaluate
from app.evaluation.chunks import feature_rows, inputs
from app.evaluation.options import JudgedModel
from app.model import Model, load_model
from tests.conftest import write_corpus
from tests.evaluation.systems import Table, made_up

PARTS = {
    *("model", "version", "conventions", "data", "ranking", "decisions", "curves", "labels"),
    *("risk_coverage", "calibration", "partitions", "confusion", "confidence", "warnings"),
    *("most_confused", "worst_documents", "seconds"),
}
DATA = {
    *("documents", "labels", "pairs", "unlabelled", "zero_shot_labels", "zero_shot_pairs"),
    *("skipped", "skipped_lines", "seen_in_training", "sha256"),
}
DECISIONS = {
    *("micro", "macro", "macro_in_test", "weighted", "samples", "macro_star_f1"),
    *(
        "subset_accuracy",
        "break_even",
        "break_even_per_label",
        "labels_skipped",
        "rejector_accuracy",
    ),
}
LABEL = {
    *("label", "training_documents", "support", "tp", "fp", "fn", "tn", "precision", "recall"),
    *("f1", "average_precision", "threshold"),
}


@pytest.fixture(scope="module")
def model(tiny_models: Path) -> Model:
    return load_model(Store(tiny_models), "tiny")


@pytest.fixture(scope="module")
def labelled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("data") / "test.jsonl", 80, seed=7)


@pytest.mark.parametrize(
    "decision",
    ["tuned", "zero", "rank:1", "proportion:1", "precision>=0.5", "recall>=0.5", "f2", "macro:f1"],
)
def test_every_decision_gives_a_whole_report(
    model: Model, labelled_file: Path, decision: str
) -> None:
    report = evaluate(
        model.classifier,
        open_dataset(labelled_file),
        EvaluationOptions(decision=decision),
        info=JudgedModel.of(model),
    ).as_dict()
    json.dumps(report, allow_nan=False)
    assert set(report) == PARTS
    assert set(report["data"]) == DATA
    assert set(report["decisions"]) == DECISIONS
    assert set(report["labels"][0]) == LABEL
    assert report["data"]["documents"] == 80
    assert len(report["data"]["sha256"]) == 64
    assert report["decisions"]["micro"]["f1"] > 0.5
    assert report["calibration"]["ece"] is not None
    assert report["risk_coverage"][-1]["coverage"] == 1.0
    assert (decision == "tuned") == (report["conventions"]["decision"] == "micro-f")


def test_what_a_model_abstains_from_counts_as_not_assigned(
    model: Model, labelled_file: Path
) -> None:
    cuts = model.classifier.decision.cuts
    assert cuts is not None
    timid = Abstention(0.9, cuts, cuts + np.float32(0.3))
    careful = replace(model.classifier, abstention=timid)
    plain, report = (
        evaluate(scorer, open_dataset(labelled_file), info=JudgedModel.of(model)).as_dict()
        for scorer in (model.classifier, careful)
    )
    assert report["decisions"]["micro"]["recall"] < plain["decisions"]["micro"]["recall"]
    assert any("abstained on" in warning for warning in report["warnings"])
    expected = careful.decide([document.text for document in open_dataset(labelled_file)]).sum()
    assert sum(one["tp"] + one["fp"] for one in report["labels"]) == expected


def test_models_without_held_out_scores_have_no_operating_points() -> None:
    system, documents = made_up(5)
    with pytest.raises(InvalidRequestError, match="no operating points"):
        evaluate(system, documents, EvaluationOptions(decision="precision>=0.9"))


def test_zero_is_refused_where_it_is_not_neutral() -> None:
    system, documents = made_up(5)
    system.uncentred_learner = "tree"
    with pytest.raises(InvalidRequestError, match="learner tree"):
        evaluate(system, documents, EvaluationOptions(decision="zero"))


def test_scratch_files_are_gone_even_after_an_error(tmp_path: Path) -> None:
    system, documents = made_up(30)

    def broken() -> Iterator[Record]:
        yield from documents
        raise InvalidDataError("the file ends here", line=31)

    with pytest.raises(InvalidDataError):
        evaluate(system, broken(), EvaluationOptions(bootstrap=2), scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []
    evaluate(system, documents, EvaluationOptions(bootstrap=2), scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sparse", [1, 10_000])
def test_memory_does_not_grow_with_the_documents(
    sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.metrics.counting.score_rows.SPARSE", sparse)
    monkeypatch.setattr("app.evaluation.measure.decided_chunk.DOCUMENTS", 250)
    monkeypatch.setattr("app.evaluation.storage.pair_score_file.RUN", 10_000)
    monkeypatch.setattr("app.evaluation.storage.pair_score_file.BLOCK", 20_000)
    monkeypatch.setattr(chunks, "DOCUMENTS", 250)
    monkeypatch.setattr("app.evaluation.storage.score_file.CELLS", 20_000)
    monkeypatch.setattr("app.evaluation.measure.measurement.BLOCK", 250)
    monkeypatch.setattr("app.evaluation.measure.confusion.PENDING", 1000)
    monkeypatch.setattr("app.metrics.break_even.PENDING", 1000)
    system, documents = made_up(250)
    few, many = (_peak(system, documents, copies) for copies in (4, 44))
    assert many - few < 150 * 40 * 250  # bytes: far less than a document's text, or its record


def _peak(system: Table, documents: list[Record], copies: int) -> int:
    tracemalloc.start()
    evaluate(system, (document for _ in range(copies) for document in documents))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_ready_made_features_become_rows_without_unknown_columns() -> None:
    def document(columns: list[int]) -> Any:
        values = np.arange(1, len(columns) + 1, dtype=np.float32)
        return Record("", (), None, 1, (np.array(columns, np.int32), values))

    chunk = [document([0, 2]), document([]), document([1, 5])]
    assert feature_rows(chunk, 3).toarray().tolist() == [[1, 0, 2], [0, 0, 0], [0, 1, 0]]
    scorer = SimpleNamespace(reads_documents=False, is_ready_made=True, n_features=3)
    assert inputs(chunk, scorer).shape == (3, 3)
    with pytest.raises(InvalidDataError, match="reads texts"):
        inputs(chunk, SimpleNamespace(reads_documents=False, is_ready_made=False))
    with pytest.raises(InvalidDataError, match="ready-made"):
        inputs([Record("a text", (), None, 1)], scorer)
