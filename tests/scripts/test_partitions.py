"""Data in many files, through the commands: one model, one report, and predictions file by file."""

import json
import os
from itertools import pairwise
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from app.artifacts.store import Store
from app.cli.evaluating import partitions
from tests.conftest import write_corpus
from tests.evaluation.test_partitions import written
from tests.scripts.conftest import Typed
from tests.scripts.test_train import run

N_DOCUMENTS, N_PARTS = 120, 64


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """120 documents with a column of their own: one file, and Parquet and JSON lines in parts."""
    one = write_corpus(tmp_path / "one.jsonl", N_DOCUMENTS)
    rows = [json.loads(line) for line in one.read_text().splitlines()]
    for name in ("table", "lines"):
        (tmp_path / name).mkdir()
    bounds = [N_DOCUMENTS * number // N_PARTS for number in range(N_PARTS + 1)]
    for number, (first, end) in enumerate(pairwise(bounds)):
        part = [{**row, "note": int(row["id"])} for row in rows[first:end]]
        table = pyarrow.Table.from_pylist(part)
        pyarrow.parquet.write_table(table, tmp_path / "table" / f"{number:03}.parquet")
    for number, (first, end) in enumerate([(0, 50), (50, 51), (51, 120)]):
        lines = [json.dumps(row) + "\n" for row in rows[first:end]]
        (tmp_path / "lines" / f"{number}.jsonl").write_text("".join(lines))
    return tmp_path


def test_a_folder_of_parquet_files_a_glob_and_one_file_give_the_same_model(
    parts: Path, typed: Typed
) -> None:
    models = parts / "models"
    for name, data in {
        "one": [parts / "one.jsonl"],
        "folder": [parts / "table", "--format", "parquet"],
        "glob": [f"{parts}/lines/*.jsonl"],
    }.items():
        code, _, err = typed(
            "train", *data, "--model", name, "--models-dir", models, "--jobs", 1, "--folds", 2
        )
        assert code == 0, err
    store = Store(models)
    sums = {store.load(name, store.current(name)).manifest.checksum for name in store.names()}
    assert len(store.names()) == 3
    assert len(sums) == 1


def test_an_evaluation_over_parts_is_that_of_one_file(
    parts: Path, typed: Typed, tiny_models: Path
) -> None:
    found = []
    for data in ([parts / "one.jsonl"], [parts / "table", "--format", "parquet"]):
        words = ("evaluate", "tiny", *data, "--models-dir", tiny_models, "--json", "-")
        code, out, err = typed(*words, "--jobs", 1)
        assert code == 0, err
        report = json.loads(out)
        report.pop("seconds")
        report["data"].pop("sha256")  # of bytes, which are others
        found.append(report)
    assert found[0] == found[1]


def test_every_file_gets_its_own_predictions_beside_its_columns(
    parts: Path, tiny_models: Path
) -> None:
    out = parts / "labelled"
    whole = parts / "whole.parquet"
    for output in (out, whole):
        code, _, err = run(
            *("scripts/predict.py", "tiny", f"{parts}/table/00*.parquet", "--output", output),
            *("--models-dir", tiny_models, "--jobs", 2, "--json", parts / "counts.json"),
        )
        assert code == 0, err
        counts = json.loads((parts / "counts.json").read_text())
        assert counts["documents"] == N_DOCUMENTS * 10 // N_PARTS
    files = sorted(out.glob("*.parquet"))
    assert [file.name for file in files] == [f"{number:03}.parquet" for number in range(10)]
    together = pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files)
    assert together.equals(pyarrow.parquet.read_table(whole))
    assert together.column("note").to_pylist() == list(range(N_DOCUMENTS * 10 // N_PARTS))


def predicted(typed: Typed, parts: Path, models: Path, *more: object) -> tuple[int, str]:
    words = ("predict", "tiny", f"{parts}/lines/*.jsonl", "--output", parts / "out", "--jobs", 1)
    code, _, err = typed(*words, "--models-dir", models, *more)
    return code, err


def test_finished_files_are_skipped_and_others_written(
    parts: Path, typed: Typed, tiny_models: Path
) -> None:
    assert predicted(typed, parts, tiny_models) == (0, f"{parts}/out: 3 files, 120 rows\n")
    contents = {file.name: file.read_bytes() for file in (parts / "out").glob("*.jsonl")}
    (parts / "out" / "1.jsonl").unlink()
    (parts / "out" / "2.jsonl").write_text("what a finished file is not looked into for\n")
    code, err = predicted(typed, parts, tiny_models)
    assert (code, err) == (0, f"{parts}/out: 1 files, 1 rows, 2 were there already\n")
    assert (parts / "out" / "1.jsonl").read_bytes() == contents["1.jsonl"]
    assert (parts / "out" / "2.jsonl").read_text().startswith("what")
    later = (parts / "out" / "2.jsonl").stat().st_mtime + 10
    os.utime(parts / "lines" / "2.jsonl", (later, later))
    assert ": 1 files, 69 rows" in predicted(typed, parts, tiny_models)[1]
    assert (parts / "out" / "2.jsonl").read_bytes() == contents["2.jsonl"]


def test_a_folder_of_other_predictions_is_refused(
    parts: Path, typed: Typed, tiny_models: Path
) -> None:
    assert predicted(typed, parts, tiny_models)[0] == 0
    code, err = predicted(typed, parts, tiny_models, "--top-k", 1)
    assert code == 2
    assert "holds predictions of tiny@" in err
    assert "other options" in err


def test_a_bad_file_is_named_and_finished_ones_stay(
    parts: Path, typed: Typed, tiny_models: Path
) -> None:
    (parts / "lines" / "1.jsonl").write_text("{broken\n")
    code, err = predicted(typed, parts, tiny_models)
    assert code == 1
    assert "lines/1.jsonl:1:" in err
    kept = sorted(file.name for file in (parts / "out").iterdir())
    assert kept == ["0.jsonl", "_predictions.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--operating-point", "proportion:1"), "over all documents together"),
        (("--ancestors",), "no column for ancestors"),
    ],
)
def test_what_cannot_be_answered_file_by_file_is_refused_before_anything_is_written(
    parts: Path, typed: Typed, tiny_models: Path, words: tuple[str, ...], said: str
) -> None:
    code, err = predicted(typed, parts, tiny_models, *words)
    assert code == 2
    assert said in err
    assert not (parts / "out").exists()


def test_two_files_of_one_name_are_refused(parts: Path, typed: Typed, tiny_models: Path) -> None:
    (parts / "lines" / "0.json").write_text("[]")
    words = ("predict", "tiny", f"{parts}/lines/0.*", "--output", parts / "out")
    code, _, err = typed(*words, "--models-dir", tiny_models)
    assert code == 2
    assert "2 of the files would be written to" in err


def test_processes_give_the_same_report_and_predictions(
    tmp_path: Path, typed: Typed, tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    found = []
    for least in (0, 10**12):
        monkeypatch.setattr(partitions, "LEAST_BYTES", least)
        lines = tmp_path / f"predictions-{least}"
        words = ("evaluate", "tiny", f"{tmp_path}/*.jsonl", "--models-dir", tiny_models)
        options = ("--jobs", 2, "--on-error", "skip", "--json", "-", "--predictions", lines)
        code, out, err = typed(*words, *options)
        assert code == 0, err
        report = json.loads(out)
        report.pop("seconds")
        found.append((report, lines.read_bytes()))
    assert found[0] == found[1]


def test_a_bad_file_is_named_where_processes_read_it(
    tmp_path: Path, typed: Typed, tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    monkeypatch.setattr(partitions, "LEAST_BYTES", 0)
    words = ("evaluate", "tiny", f"{tmp_path}/*.jsonl", "--models-dir", tiny_models, "--jobs", 2)
    code, _, err = typed(*words)
    assert code == 1
    assert "0.jsonl:41:" in err
