"""`labelserve predict` and `evaluate` with --cluster: the bytes of --jobs, whoever is killed."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from tests.conftest import write_corpus
from tests.engines.processes import ROOT, SECONDS, Processes, wait_for
from tests.evaluation.test_partitions import written

LABELSERVE = (sys.executable, "-m", "labelserve")
N_PARTS = 6


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Documents in Parquet files, and one file of JSON lines that are not all good."""
    lines = write_corpus(tmp_path / "one.jsonl", 60).read_text().splitlines()
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for number in range(N_PARTS):
        rows = [json.loads(line) for line in lines[number::N_PARTS]]
        table = pyarrow.Table.from_pylist(rows)
        pyarrow.parquet.write_table(table, tmp_path / "in" / f"{number}.parquet")
    (tmp_path / "in" / "deep" / "a.jsonl").write_text("\n".join([*lines[:5], "{broken", ""]))
    return tmp_path


def predict(parts: Path, models: Path, out: str, *more: str) -> "subprocess.CompletedProcess[str]":
    """Run in the folder of the data, which is not that of the workers, on names relative to it."""
    given = ("--output", out, "--models-dir", str(models), "--on-error", "skip")
    return run(parts, "predict", "tiny", "in/**/*.*", *given, *more)


def run(parts: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*LABELSERVE, *words],
        cwd=parts,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_workers_write_what_processes_write_and_skip_what_is_there(
    parts: Path, cluster: Processes, tiny_models: Path
) -> None:
    assert predict(parts, tiny_models, "by-jobs", "--jobs", "1").returncode == 0
    gate, killed = (
        parts / "gate",
        cluster.start_worker(
            "preload_gate.py", GATE=str(parts / "gate"), GATE_LETS="0", GATE_KIND="predicted-files"
        ),
    )

    def kill_at_work() -> None:
        wait_for(Path(f"{gate}.reached").exists)
        killed.kill()

    killing = threading.Thread(target=kill_at_work)
    killing.start()
    # The third worker waits in a file that it was given, and dies there.
    done = predict(parts, tiny_models, "out", "--cluster", cluster.address)
    assert done.returncode == 0, done.stderr
    killing.join()
    assert "out: 7 files, 66 rows, 1 of them not read" in done.stderr
    assert contents(parts / "out") == contents(parts / "by-jobs")
    (parts / "out" / "2.parquet").unlink()
    (parts / "out" / "3.parquet").write_text("what a finished file is not looked into for")
    again = predict(parts, tiny_models, "out", "--cluster", cluster.address)
    assert "out: 1 files, 10 rows, 6 were there already" in again.stderr
    assert (parts / "out" / "3.parquet").read_text().startswith("what")


def test_a_bad_file_is_named_and_finished_ones_stay(
    parts: Path, cluster: Processes, tiny_models: Path
) -> None:
    (parts / "in" / "9.parquet").write_text("no table")
    done = predict(parts, tiny_models, "out", "--cluster", cluster.address)
    assert done.returncode == 1
    assert "in/9.parquet" in done.stderr
    assert "0.parquet" in contents(parts / "out")
    assert not [name for name in contents(parts / "out") if name.startswith(".")]


def test_one_output_file_is_not_for_a_cluster(parts: Path, tiny_models: Path) -> None:
    done = predict(parts, tiny_models, "out.parquet", "--cluster", "local:2")
    assert done.returncode == 2
    assert "accepted: with --output DIR" in done.stderr


def test_workers_measure_what_the_command_measures(
    tmp_path: Path, cluster: Processes, tiny_models: Path
) -> None:
    (tmp_path / "in").mkdir()
    written(tmp_path / "in")
    given = ("--models-dir", str(tiny_models), "--on-error", "skip", "--include-test-labels")
    found = []
    for where in (("--jobs", "1"), ("--cluster", cluster.address)):
        options = (*given, "--json", "report.json", "--predictions", "lines.jsonl", *where)
        done = run(tmp_path, "evaluate", "tiny", "in/*.jsonl", *options)
        assert done.returncode == 0, done.stderr
        report = json.loads((tmp_path / "report.json").read_text())
        assert report.pop("seconds")
        found.append((report, (tmp_path / "lines.jsonl").read_bytes()))
    assert "2 workers" in done.stderr
    assert found[0] == found[1]
    assert not list(tiny_models.glob(".*"))
