"""What 23,516 names of a labels file cost a served model: memory, start, and each answer."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import data_folder, is_quick, machine
from bench.harness.processes import resident_memory
from bench.harness.sections import keep_figures, write_section

from app.artifacts.store import Store
from app.datasets.base import Summary
from app.datasets.collection import Collection
from app.datasets.labels_file import load_labels_file
from app.labels import Taxonomy
from app.model import load_model
from app.prediction import Query
from app.serving.registry import Registry
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train

LABELS = 500
ROUNDS = 1 if is_quick() else 5
ANSWERS = 100 if is_quick() else 2000
TOP_K, LOADS = 5, 10


def write_models(folder: Path) -> None:
    """The same made-up model as `plain`, and with the names as `named`."""
    file = load_labels_file(data_folder() / "yso-en-mid" / "labels.tsv.gz")
    sets: list[tuple[str, ...]] = [(entry.label,) for entry in file.entries[:LABELS]]
    texts = [f"term{number} of the text" for number in range(len(sets))]
    data = Collection(texts, sets, [None] * len(sets), Summary(sha256="0" * 64))
    recipe = read_recipe(None).with_decision(name="zero", folds=0)
    trained = train(TrainingJob(data, recipe, jobs=os.cpu_count() or 1))
    classifier = trained.classifier
    taxonomy = Taxonomy.of(file.entries, classifier.labels)
    for name, one in (("plain", classifier), ("named", replace(classifier, taxonomy=taxonomy))):
        store = Store(folder / name)
        store.promote("model", store.write("model", one.state(), trained.info))


def measured(folder: Path) -> dict[str, float]:
    """CPU milliseconds to load a folder's model, resident megabytes, microseconds an answer.

    It is loaded once before, because the first time is that of the kernels.
    """
    registry, loads = Registry(Store(folder)), []
    registry.refresh()
    plan = registry.get("model").plan(Query(top_k=TOP_K))
    times = []
    for number in range(ANSWERS):
        start = time.perf_counter()
        plan.predictions([f"term{number % LABELS} of another text"])
        times.append(time.perf_counter() - start)
    memory = resident_memory(os.getpid()) / 1e6
    for _ in range(LOADS):
        clock = time.process_time()
        load_model(Store(folder), "model")
        loads.append(time.process_time() - clock)
    return {"ms": 1000 * min(loads), "mb": memory, "us": 1e6 * float(np.percentile(times, 10))}


def main() -> None:
    """Measure both models in turn, each in a process of its own, print and write the section."""
    if len(sys.argv) > 1:
        print(json.dumps(measured(Path(sys.argv[-1]))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        write_models(Path(scratch))
        rounds = [(_run(scratch, "plain"), _run(scratch, "named")) for _ in range(ROUNDS)]
    best = {
        key: [min(pair[which][key] for pair in rounds) for which in (0, 1)]
        for key in ("mb", "ms", "us")
    }
    text = _section(best)
    print(text)
    write_section("label-names", text)
    keep_figures("label-names", best)


def _run(folder: str, model: str) -> dict[str, float]:
    words = [sys.executable, *sys.argv, str(Path(folder) / model)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _section(best: dict[str, list[float]]) -> str:
    titles = {"mb": "resident MB", "ms": "CPU ms to load", "us": f"µs an answer of {TOP_K} labels"}
    both = {title: (*best[key], best[key][1] - best[key][0]) for key, title in titles.items()}
    rows = ["| {} | {:.1f} | {:.1f} | {:+.1f} |".format(title, *row) for title, row in both.items()]
    return "\n".join(
        [
            "## 23,516 names in a served model",
            "",
            "A made-up model without and with the names of yso-en-mid, loaded and asked for "
            f"{ANSWERS:,} answers; the best of {ROUNDS} rounds.",
            "",
            "| | without | with | difference |",
            "|---|---|---|---|",
            *rows,
            "",
            f"{machine()}. Again: `.venv/bin/python scripts/bench/label_names.py`.",
        ]
    )


if __name__ == "__main__":
    main()
