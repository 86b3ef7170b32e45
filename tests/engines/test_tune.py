"""`labelserve tune --cluster`: the recipe and the model of `--jobs`, within one budget."""

import json
import os
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.engines.preload_slow_clock import SECONDS_A_TASK
from tests.engines.processes import ROOT, SECONDS, Processes, wait_for
from tests.training.test_search import texts

SPACE = """
[[candidates]]
name = "pairs"
features = { ngram_range = [1, 2] }
settings = { c = 1.0 }

[[candidates]]
name = "a tree"
learner = "tree"
"""
MANY = 200
"""Candidates that take seconds to try."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and what to try on them."""
    folder = tmp_path_factory.mktemp("data")
    corpus = texts()
    lines = zip(corpus.documents, corpus.label_sets, strict=True)
    documents = [json.dumps({"text": text, "labels": labels}) for text, labels in lines]
    (folder / "train.jsonl").write_text("\n".join(documents))
    for number in range(3):
        own = documents[number * 50 : (number + 1) * 50 if number < 2 else None]
        (folder / f"part-{number}.jsonl").write_text("\n".join(own))
    (folder / "space.toml").write_text(SPACE)
    return folder


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory: pytest.TempPathFactory, data: Path) -> dict[str, Any]:
    models = tmp_path_factory.mktemp("models")
    assert tune(data, models, "--jobs", "2").returncode == 0
    return outcome(models)


def command(data: Path, models: Path, *options: str, files: str = "train.jsonl") -> list[str]:
    given = ("--model", "tickets", "--models-dir", str(models), "--budget", "1h")
    what = (str(data / files), "--space", str(data / "space.toml"))
    return [sys.executable, "-m", "labelserve", "tune", *what, *given, *options]


def tune(
    data: Path, models: Path, *options: str, files: str = "train.jsonl"
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(data, models, *options, files=files),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


def trials(models: Path) -> dict[str, Any]:
    table = (models / ".tuning" / "tickets" / "trials.json").read_text()
    told: dict[str, Any] = json.loads(table)
    return told


def outcome(models: Path) -> dict[str, Any]:
    """The trials, the recipe, and the model's arrays; seconds are each run's own."""
    told = trials(models)
    for trial in told["trials"]:
        assert trial.pop("cpu_seconds") >= 0
    files = [file for file in models.rglob("*.npy") if ".tuning" not in file.parts]
    hashes = sorted((file.name, sha256(file.read_bytes()).hexdigest()) for file in files)
    assert hashes
    recipe = (models / ".tuning" / "tickets" / "recipe.toml").read_text()
    return {"trials": told, "recipe": recipe, "arrays": hashes}


@pytest.mark.parametrize("files", ["train.jsonl", "part-*.jsonl"])
def test_workers_choose_the_recipe_of_threads_and_write_the_same_bytes(
    files: str, tmp_path: Path, data: Path, cluster: Processes, by_threads: dict[str, Any]
) -> None:
    done = tune(data, tmp_path, "--cluster", cluster.address, files=files)
    assert done.returncode == 0, done.stderr
    assert "2 workers, 2 threads" in done.stderr
    assert outcome(tmp_path) == by_threads
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tuning", "tickets"]


def killed_in_a_task_that_ends(kind: str, data: Path, folder: Path) -> Path:
    """The models folder of a tuning that was killed when its first task of a kind had begun.

    The worker finishes this task, though nobody waits for it.
    """
    models, gate = folder / "models", folder / "gate"
    models.mkdir()
    cluster = Processes(folder, GATE=str(gate), GATE_LETS="0", GATE_KIND=kind)
    try:
        cluster.start_worker("preload_gate.py")
        tuning = command(data, models, "--cluster", cluster.address)
        with subprocess.Popen(tuning, cwd=ROOT) as process:
            wait_for(Path(f"{gate}.reached").exists)
            os.kill(process.pid, signal.SIGKILL)
        finished = len(list(models.rglob("*.part")))
        gate.touch()
        wait_for(lambda: len(list(models.rglob("*.part"))) > finished)
    finally:
        cluster.stop()
    return models


def test_a_killed_tuning_goes_on_with_its_trials(
    tmp_path: Path, data: Path, cluster: Processes, by_threads: dict[str, Any]
) -> None:
    models = killed_in_a_task_that_ends("tree-nodes", data, tmp_path)
    tried = {file: file.stat().st_mtime_ns for file in models.rglob("trials-*/*.json")}
    assert tried
    done = tune(data, models, "--cluster", cluster.address, "--resume")
    assert done.returncode == 0, done.stderr
    assert outcome(models) == by_threads
    assert all(file.stat().st_mtime_ns == written for file, written in tried.items())
    assert sorted(path.name for path in models.iterdir()) == [".tuning", "tickets"]


@pytest.mark.parametrize("is_resumed", [False, True])
def test_the_budget_counts_what_workers_take_and_nothing_for_finished_parts(
    tmp_path: Path, data: Path, *, is_resumed: bool
) -> None:
    models = killed_in_a_task_that_ends("cost-trials", data, tmp_path)
    slow = tmp_path / "slow"
    slow.mkdir()
    cluster = Processes(slow)
    try:
        cluster.start_worker("preload_slow_clock.py")
        more = ("--resume",) if is_resumed else ()
        done = tune(data, models, "--cluster", cluster.address, *more)
        assert done.returncode == 0, done.stderr
    finally:
        cluster.stop()
    # The command alone has time for every candidate: the first one with a task uses it up.
    seconds = {t["name"].partition(",")[0]: t["cpu_seconds"] for t in trials(models)["trials"]}
    assert list(seconds) == (["words", "pairs"] if is_resumed else ["words"])
    first, *second = seconds.values()
    assert (first < SECONDS_A_TASK) is is_resumed
    assert all(value >= SECONDS_A_TASK for value in second)


def test_an_interrupt_in_a_terminal_keeps_workers_and_the_best_so_far(
    tmp_path: Path, data: Path
) -> None:
    candidate = '[[candidates]]\nname = "number {}"\nsettings = {{ c = 1.0 }}\n'
    space, models = tmp_path / "space.toml", tmp_path / "models"
    space.write_text("".join(candidate.format(number) for number in range(MANY)))
    options = ("--cluster", "local:1", "--space", str(space))
    # A terminal's Ctrl-C goes to all processes of the command, as here to all of the session.
    with subprocess.Popen(
        command(data, models, *options), cwd=ROOT, start_new_session=True
    ) as tuning:
        try:
            wait_for(lambda: len(list(models.rglob("trials-*/*.json"))) > 1)
            os.killpg(tuning.pid, signal.SIGINT)
            assert tuning.wait(SECONDS) == 0
        finally:
            tuning.kill()
    assert 1 < len({trial["name"] for trial in trials(models)["trials"]}) < MANY
    assert sorted(path.name for path in models.iterdir()) == [".tuning", "tickets"]
