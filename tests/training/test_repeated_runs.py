"""Repeated runs: each is a training with its own seed, and nothing of it stays."""

import gc
import json
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.artifacts.store import Store
from app.classifier import Classifier
from app.cli.repeated_runs import Repetition, checked_name
from app.datasets.collection import Collection, split
from app.errors import InvalidRequestError
from app.evaluation.report.headline_figures import headline_figures
from app.training.publish import documents_of, publish
from app.training.recipe import read_recipe
from app.training.repeated_runs import repeated_runs
from app.training.run_results import runs_summary
from app.training.train import TrainingJob, train

ROOT = Path(__file__).parents[2]
QUICK = ("decision.resamples=2", "decision.folds=2")


def job_of(corpus: Collection, seed: int = 3) -> TrainingJob:
    return TrainingJob(corpus, read_recipe(None, changes=QUICK), seed=seed)


def test_a_run_has_the_figures_of_a_training_with_its_seed_and_a_test_share(
    corpus: Collection, tmp_path: Path
) -> None:
    *_, run = repeated_runs(job_of(corpus), 2, 0.75)
    assert (run.seed, run.training_documents, run.test_documents) == (4, 90, 30)
    kept, aside = split(corpus, 0.25, 4)
    trained = train(job_of(kept, 4))
    published = publish(trained, Store(tmp_path), "m", test=lambda: documents_of(aside))
    assert published.report is not None
    assert run.figures == headline_figures(published.report.as_dict())


def test_no_model_of_a_run_is_left_in_memory(corpus: Collection) -> None:
    gc.collect()
    before = sum(type(one) is Classifier for one in gc.get_objects())
    for _ in repeated_runs(job_of(corpus), 2, 0.5):
        assert sum(type(one) is Classifier for one in gc.get_objects()) == before


def test_the_spread_is_that_of_the_runs_and_the_same_every_time(corpus: Collection) -> None:
    runs = list(repeated_runs(job_of(corpus), 3, 0.8))
    again = list(repeated_runs(job_of(corpus), 3, 0.8))
    assert [run.figures for run in runs] == [run.figures for run in again]
    values = [run.figures["micro.f1"] for run in runs]
    found = runs_summary(runs)["figures"]["micro.f1"]
    assert found["mean"] == pytest.approx(sum(values) / 3)
    assert found["sd"] == pytest.approx(statistics.variance(values) ** 0.5)
    assert (found["min"], found["max"], found["runs"]) == (min(values), max(values), 3)
    assert runs_summary(runs[:1])["figures"]["micro.f1"]["sd"] is None


def command(*arguments: object) -> list[str]:
    return [sys.executable, "scripts/train.py", *map(str, arguments)]


@pytest.mark.slow
def test_the_command_writes_the_runs_and_no_model(corpus_file: Path, tmp_path: Path) -> None:
    file, models = tmp_path / "runs.json", tmp_path / "models"
    done = subprocess.run(
        command(corpus_file, "--runs", 2, "--json", file, "--models-dir", models, "--folds", 2),
        **{"cwd": ROOT, "capture_output": True, "text": True, "timeout": 120, "check": True},
    )
    found = json.loads(file.read_text())
    assert f"{found['figures']['micro.f1']['mean']:.4f}" in done.stdout
    assert [run["seed"] for run in found["runs"]] == [0, 1]
    assert found["share"] == 0.8
    assert not models.exists()


@pytest.mark.parametrize(
    ("model", "given", "says"),
    [
        (None, Repetition(2), "leave --test out"),
        (None, Repetition(2, 1.0), "above 0 and below 1"),
        ("m", Repetition(None, 0.5), "give --runs"),
        (None, Repetition(), "give --model NAME"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(
    model: str | None, given: Repetition, says: str
) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        checked_name(model, given, {"--test": True, "--promote": False})


@pytest.mark.slow
def test_ctrl_c_keeps_the_runs_that_are_done(corpus_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    restore = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    with subprocess.Popen(
        command(corpus_file, "--runs", 100_000, "--folds", 2, "--json", file),
        **{"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True},
        preexec_fn=restore,
    ) as process:
        while not file.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 2)
    assert "Traceback" not in err
    n_done = len(json.loads(file.read_text())["runs"])
    assert 1 <= n_done < 100_000
    assert f"{n_done} of 100000 runs" in out
