"""What commands need in memory for each further document; `make bench` has larger sizes."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from app.training.memory.plan import BYTES_OF_EVERY_TRAINING
from tests.conftest import FILLER, TOPICS

ROOT = Path(__file__).parents[2]
MEASURED = """
import runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, "scripts")
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as left:
    print(open("/proc/self/status").read())
    sys.exit(left.code)
"""
PLANNED = """
import re, sys
from pathlib import Path
from app.resources.freed_memory import return_freed_memory
from app.cli.terminal import prepare_kernels
from app.datasets.collection import load_collection
from app.training.recipe import Recipe
from app.training.train import TrainingJob, train

def kibibytes(name):
    return int(re.search(name + r":\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])

return_freed_memory()
prepare_kernels()
data = load_collection(sys.argv[1])
job = TrainingJob(data, Recipe(), jobs=2)
planned, before = job.memory_plan().n_bytes, kibibytes("VmRSS")
train(job)
print(planned, 1024 * (kibibytes("VmHWM") - before))
"""
A_PART, FEW, MANY = 4000, 1, 6
MORE = (MANY - FEW) * A_PART
OF_A_TEXT = 300
"""Bytes: half of what the text of one of the documents below takes."""
NUMBERS = 92
"""Different words of a document: 33 bytes each were measured."""


def peak_bytes(*arguments: object) -> int:
    """The largest resident memory of a script; its own, without what forked it."""
    words = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return 1024 * int(done.stdout.rpartition("VmHWM:")[2].split()[0])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts of short documents with made-up words: `few` and `many` of them."""
    root, pick = tmp_path_factory.mktemp("memory"), random.Random(1)
    for name, n_parts in (("few", FEW), ("many", MANY)):
        (root / name).mkdir()
        for number in range(n_parts):
            lines = [json.dumps(document(pick, f"{number}-{i}")) for i in range(A_PART)]
            (root / name / f"{number}.jsonl").write_text("\n".join(lines))
    return root


def document(pick: random.Random, id_: str) -> dict[str, object]:
    labels = sorted(pick.sample(sorted(TOPICS), 2))
    words = pick.sample(FILLER.split(), 6) + [f"w{pick.randrange(2000)}" for _ in range(80)]
    words += [word for label in labels for word in pick.sample(TOPICS[label].split(), 3)]
    return {"id": id_, "text": " ".join(words), "labels": labels}


def more_a_document(data: Path, script: str, *words: object) -> float:
    """By how many bytes the peak grows with each document."""
    few, many = (
        peak_bytes(f"scripts/{script}.py", *(str(word).format(size=size) for word in words))
        for size in (data / "few", data / "many")
    )
    return (many - few) / MORE


@pytest.mark.slow
def test_predictions_by_partition_are_flat_in_memory(data: Path, tiny_models: Path) -> None:
    words = ("tiny", "{size}/*.jsonl", "--output", "{size}-out", "--models-dir", tiny_models)
    assert more_a_document(data, "predict", *words, "--jobs", 1) < OF_A_TEXT


@pytest.mark.slow
def test_an_evaluation_keeps_little_of_each_document(data: Path, tiny_models: Path) -> None:
    words = ("tiny", "{size}/*.jsonl", "--models-dir", tiny_models, "--jobs", 1)
    assert more_a_document(data, "evaluate", *words) < OF_A_TEXT


@pytest.mark.slow
def test_a_training_needs_less_a_document_than_its_features_and_copies(data: Path) -> None:
    words = ("{size}/*.jsonl", "--model", "m", "--models-dir", data / "models", "--folds", 2)
    quick = ("--jobs", 1, "--quality", "fast")  # trials of others take a bounded sample besides
    assert more_a_document(data, "train", *words, *quick) < 38 * NUMBERS


@pytest.mark.slow
def test_a_training_needs_about_what_it_said_it_would(data: Path) -> None:
    words = [sys.executable, "-c", PLANNED, f"{data}/many/*.jsonl"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    planned, needed = map(int, done.stdout.split())
    by_size = planned - BYTES_OF_EVERY_TRAINING
    assert needed < 1.1 * by_size + (16 << 20), (planned, needed)
    assert by_size < 1.5 * needed, (planned, needed)
