"""The benchmarks' programs for labelserve: each runs all its rounds, on little data."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.harness.environment import PEERS, ROOT, program_environment
from bench.run import STEPS
from scipy.sparse import save_npz

from app.datasets.collection import Collection
from app.labels import LabelIndex
from app.vectorizers.tfidf import Tfidf

TASKS = sorted(path.parent.name for path in PEERS.glob("*/labelserve.py"))
CORPORA = ("debtags", "yso-en-mid")


@pytest.fixture(scope="module")
def environment(
    corpus: Collection, tiny_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What the benchmarks prepare: corpora, models and matrices under the names they expect."""
    folder = tmp_path_factory.mktemp("bench")
    lines = [
        f"{' '.join(labels)}\t{text}\n"
        for labels, text in zip(corpus.label_sets, corpus.documents, strict=True)
    ]
    for name in CORPORA:
        (folder / name).mkdir()
        for part in ("train", "test"):
            with gzip.open(folder / name / f"{part}.txt.gz", "wt", encoding="utf-8") as file:
                file.writelines(lines)
    (folder / "evaluated-test.txt").write_text("".join(lines), encoding="utf-8")
    for model in ("debtags", "evaluated"):
        shutil.copytree(tiny_models / "tiny", folder / "models" / model)
    write_matrices(corpus, folder / "matrices")
    return {
        **program_environment("labelserve"),
        "LABELSERVE_BENCH_DATA": str(folder),
        "LABELSERVE_BENCH_MODELS": str(folder / "models"),
        "LABELSERVE_BENCH_MATRICES": str(folder / "matrices"),
    }


def write_matrices(corpus: Collection, folder: Path) -> None:
    folder.mkdir()
    features = Tfidf().fit_transform(corpus.documents)
    marks = LabelIndex.of(corpus.label_sets).truth(corpus.label_sets).astype(np.int8)
    for part in ("train", "test"):
        save_npz(folder / f"{part}_features.npz", features)
        save_npz(folder / f"{part}_marks.npz", marks)


def all_rounds(task: str, environment: dict[str, str]) -> tuple[list[str], list[dict[str, float]]]:
    """The rounds that our program of a task offers, and the figures of one turn each."""
    with subprocess.Popen(
        [sys.executable, "-P", str(PEERS / task / "labelserve.py")],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        rounds = json.loads(program.stdout.readline())["ready"]
        said, _ = program.communicate("".join(f"{name}\n" for name in rounds), timeout=120)
    assert program.returncode == 0
    return rounds, [json.loads(line) for line in said.splitlines()]


def test_every_task_with_peers_has_a_program_of_ours() -> None:
    alone = {"decide", "epoch", "serve"}  # whose side of ours is the product's own command
    folders = {path.name for path in PEERS.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert folders - alone == set(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_our_program_runs_every_round_it_offers(task: str, environment: dict[str, str]) -> None:
    rounds, figures = all_rounds(task, environment)
    assert rounds
    assert len(figures) == len(rounds)
    assert all(one["cpu"] > 0 and one["wall"] > 0 for one in figures)


def test_every_benchmark_can_be_started() -> None:
    command = [sys.executable, "scripts/bench/run.py", "--help"]
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=ROOT, env=bare, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert all((PEERS.parent / step.script).is_file() for step in STEPS.values())
