"""`labelserve train --cluster`: the model of `--jobs`, also after a killed command."""

import json
import os
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_corpus
from tests.engines.processes import ROOT, SECONDS, Processes, wait_for

PER_RUN = ("version", "created", "timings")
TRAIN = (sys.executable, "-m", "labelserve", "train")


def command(corpus: Path, models: Path, *options: str) -> list[str]:
    given = ("--model", "tickets", "--models-dir", str(models), "--learner", "one-vs-rest")
    return [*TRAIN, str(corpus), *given, *options]


def run(corpus: Path, models: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(corpus, models, *options),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


def hashes(models: Path) -> list[tuple[str, str]]:
    files = models.rglob("*.npy")
    return sorted((file.name, sha256(file.read_bytes()).hexdigest()) for file in files)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus") / "train.jsonl", 150)


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> list[tuple[str, str]]:
    models = tmp_path_factory.mktemp("models")
    assert run(corpus, models, "--jobs", "2").returncode == 0
    assert hashes(models)
    return hashes(models)


def test_processes_started_for_a_training_give_the_same_files_and_leave_none(
    tmp_path: Path, corpus: Path, by_threads: list[tuple[str, str]]
) -> None:
    done = run(corpus, tmp_path, "--cluster", "local:2")
    assert done.returncode == 0, done.stderr
    assert "local:2: 2 workers, 2 threads" in done.stderr
    assert hashes(tmp_path) == by_threads
    assert [path.name for path in tmp_path.iterdir()] == ["tickets"]


def test_a_killed_command_goes_on_with_resume_and_another_number_of_workers(
    tmp_path: Path, corpus: Path, by_threads: list[tuple[str, str]]
) -> None:
    models, gate = tmp_path / "models", tmp_path / "gate"
    models.mkdir()
    cluster = Processes(tmp_path, GATE=str(gate), GATE_LETS="0")
    options = ("--cluster", cluster.address)
    try:
        cluster.start_worker("preload_gate.py")
        with subprocess.Popen(command(corpus, models, *options), cwd=ROOT) as training:
            wait_for(Path(f"{gate}.reached").exists)
            os.kill(training.pid, signal.SIGKILL)
        gate.touch()  # the worker's task is finished, though nobody waits for it
        wait_for(lambda: any(models.rglob("*.part")))
        cluster.start_worker()  # one more than before
        done = run(corpus, models, *options, "--resume")
        assert done.returncode == 0, done.stderr
        assert "starting anew" not in done.stderr
        assert hashes(models) == by_threads
        assert [path.name for path in models.iterdir()] == ["tickets"]
    finally:
        cluster.stop()


def test_an_address_that_is_none_is_refused_before_any_data_is_read(tmp_path: Path) -> None:
    done = run(tmp_path / "missing.jsonl", tmp_path, "--cluster", "http://scheduler:8786")
    assert done.returncode == 2
    assert "--cluster takes tcp://HOST:PORT" in done.stderr


def in_files(corpus: Path, folder: Path) -> str:
    """The same documents in five files, as one glob."""
    folder.mkdir()
    lines = corpus.read_text().splitlines(keepends=True)
    for number in range(5):
        own = lines[number * 30 : (number + 1) * 30]
        (folder / f"{number}.jsonl").write_text("".join(own))
    return f"{folder}/*.jsonl"


def manifest(models: Path) -> dict[str, Any]:
    """All of it that is promised to be equal."""
    (file,) = models.glob("tickets/*/manifest.json")
    told = json.loads(file.read_text())
    return {name: value for name, value in told.items() if name not in PER_RUN}


def test_files_that_workers_read_give_the_model_of_one_file_also_after_a_killed_command(
    tmp_path: Path, corpus: Path
) -> None:
    here, models, gate = tmp_path / "here", tmp_path / "models", tmp_path / "gate"
    models.mkdir()
    data = in_files(corpus, tmp_path / "in")
    asked = ("--quality", "fast", "--set", "features.lead=[3]", "--test", "0.2")
    assert run(Path(data), here, "--jobs", "2", *asked).returncode == 0
    cluster = Processes(tmp_path, GATE=str(gate), GATE_LETS="2", GATE_KIND="read-files")
    options = (*asked, "--cluster", cluster.address)
    try:
        cluster.start_worker("preload_gate.py")
        with subprocess.Popen(command(Path(data), models, *options), cwd=ROOT) as training:
            wait_for(Path(f"{gate}.reached").exists)
            os.kill(training.pid, signal.SIGKILL)
        assert any(models.rglob("*.part"))  # of the files that were read
        gate.touch()
        cluster.start_worker()
        done = run(Path(data), models, *options, "--resume")
        assert done.returncode == 0, done.stderr
        assert "starting anew" not in done.stderr
        assert hashes(models) == hashes(here)
        assert manifest(models) == manifest(here)
        assert [path.name for path in models.iterdir()] == ["tickets"]
    finally:
        cluster.stop()


def test_a_bad_test_set_costs_no_training(tmp_path: Path, corpus: Path) -> None:
    data, models, test = (
        in_files(corpus, tmp_path / "in"),
        tmp_path / "models",
        tmp_path / "t.jsonl",
    )
    test.write_text("{broken")
    given = ("--cluster", "local:1", "--test", str(test))
    assert run(Path(data), models, *given).returncode == 1
    assert any(models.rglob("*.part"))
    test.write_text('{"text": "invoice refund", "labels": ["billing"]}')
    done = run(Path(data), models, *given, "--resume")
    assert done.returncode == 0, done.stderr
    assert "starting anew" not in done.stderr
    assert [path.name for path in models.iterdir()] == ["tickets"]


def test_bad_data_leave_nothing_of_what_workers_have_read(tmp_path: Path, corpus: Path) -> None:
    data, models = in_files(corpus, tmp_path / "in"), tmp_path / "models"
    with (tmp_path / "in" / "3.jsonl").open("a") as file:
        file.write("{broken")
    done = run(Path(data), models, "--cluster", "local:1")
    assert done.returncode == 1
    assert "in/3.jsonl:31" in done.stderr
    assert not list(models.rglob("*.npy"))
    assert not list(models.iterdir())
