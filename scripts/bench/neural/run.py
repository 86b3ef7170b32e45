"""Networks on Reuters: quality, time and memory, through the product's own commands.

Each network is trained and judged as a user does it (scripts/train.py, scripts/evaluate.py), in
processes of their own: `run.py --only mlp ensemble:one-vs-rest,mlp` runs some, `--only epochs`
compares an epoch with LibMultiLabel's. The other rows of the table stay. `--served` measures models
trained before behind HTTP once more. `--checkpoint FOLDER` adds a transformer over
the frozen encoder of that folder. `--quick`: one network, briefly.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.alternating_runs import peer_command
from bench.harness.environment import ROOT, WORK, data_folder
from bench.harness.sections import write_section
from bench.neural.served import served
from bench.neural.table import EPOCH_DOCUMENTS, EPOCHS_FILE, figures_file, plain, section

from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.neural.kim_cnn import KimCnn
from app.vectorizers.sequences import Sequences

NETWORKS = [
    "one-vs-rest",
    "mlp",
    "kim-cnn",
    "xml-cnn",
    "cnn-lwan",
    "caml",
    "bigru-lwan",
    "bilstm-lwan",
    "ensemble:one-vs-rest,mlp",
    "ensemble:one-vs-rest,kim-cnn",
]
FROZEN = "transformer, frozen"
FROZEN_SETTINGS = (
    "learner.frozen=true",
    "learner.learning_rate=0.005",
    "learner.epochs=50",
    "features.window=128",
    "features.max_windows=1",
)
MODELS = WORK / "neural-models"
PEER = ROOT / ".venv-peers-neural"
PEER_PACKAGES = ["torch==2.13.0", "libmultilabel[nn]", "setuptools<80"]
COMMAND = ".venv/bin/python scripts/bench/run.py --only neural"


def main() -> None:
    """Train, judge and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="some learners, or `epochs`")
    parser.add_argument("--checkpoint", help="a folder with an encoder, for the transformer")
    parser.add_argument("--served", action="store_true", help="only what serving takes")
    parser.add_argument("--quick", action="store_true", help="a check, nothing is written")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if options.quick:
        print(measured("mlp", ["--set", "learner.epochs=1", "--folds", "2"]))
        return
    encoder = [FROZEN] if options.checkpoint else []
    for learner in options.only or ["epochs", *NETWORKS, *encoder]:
        if learner == "epochs":
            EPOCHS_FILE.write_text(json.dumps(epochs()))
            continue
        file = figures_file(learner)
        known = json.loads(file.read_text()) if options.served else {}
        found = {} if options.served else measured(learner, settings(learner, options.checkpoint))
        figures = {**known, **found, **served(MODELS, plain(learner))}
        file.write_text(json.dumps(figures))
        print(figures, flush=True)
    write_section("neural", section(COMMAND))


def settings(learner: str, checkpoint: str | None) -> list[str]:
    """Options of scripts/train.py beyond the defaults: the transformer needs its encoder."""
    if not learner.startswith("transformer"):
        return []
    if checkpoint is None:
        raise SystemExit("the transformer needs --checkpoint FOLDER")
    folder = Path(checkpoint).resolve()
    changes = [f"features.checkpoint={folder}", f"learner.checkpoint={folder}"]
    if learner == FROZEN:
        changes += FROZEN_SETTINGS
    return [word for change in changes for word in ("--set", change)]


def measured(learner: str, options: list[str]) -> dict[str, Any]:
    """Figures of one learner: micro/macro-F1 and P@1 on the test set, minutes and megabytes."""
    corpus, name = data_folder() / "reuters", plain(learner)
    common = ["--models-dir", str(MODELS)]
    kind = learner.partition(", ")[0]
    train = [str(corpus / "train.txt.gz"), "--model", name, "--learner", kind, "--jobs", "1"]
    spent = run("train.py", [*train, *common, *options])
    report = WORK / f"neural-{name}-report.json"
    run("evaluate.py", [name, str(corpus / "test.txt.gz"), "--json", str(report), *common])
    found = json.loads(report.read_text())
    decisions = found["decisions"]
    manifest = json.loads((MODELS / name / found["version"] / "manifest.json").read_text())
    return {
        "learner": learner,
        "micro": decisions["micro"]["f1"],
        "held_out": manifest["figures"]["held_out"]["micro_f1"],
        "macro": decisions["macro"]["f1"],
        "p1": found["ranking"]["P@1"],
        **spent,
    }


def run(script: str, arguments: list[str]) -> dict[str, float]:
    """Minutes by the clock and of the processor, and the largest memory, of one command."""
    began = time.perf_counter()
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{script} {arguments} failed")
    return {
        "minutes": (time.perf_counter() - began) / 60,
        "cpu_minutes": (usage.ru_utime + usage.ru_stime) / 60,
        "megabytes": usage.ru_maxrss / 1024,
    }


def epochs() -> dict[str, float]:
    """CPU seconds of one kim-cnn epoch over the same documents, ours and LibMultiLabel's."""
    part = WORK / "neural-epoch.tsv"
    with gzip.open(data_folder() / "reuters" / "train.txt.gz", "rt", encoding="utf-8") as lines:
        part.write_text(
            "".join(line for line, _ in zip(lines, range(EPOCH_DOCUMENTS), strict=False))
        )
    python = PEER / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PEER_PACKAGES], check=True)
    command = [*peer_command("epoch", "libmultilabel", str(python)), str(part)]
    peer = subprocess.run(command, cwd=WORK, capture_output=True, check=True)  # it writes there
    theirs = json.loads(peer.stdout.splitlines()[-1])
    return {"labelserve": our_epoch(part, theirs["documents"]), "libmultilabel": theirs["seconds"]}


def our_epoch(file: Path, documents: int) -> float:
    """CPU seconds of our epoch over the first so many documents of a file."""
    rows = [line.rstrip("\n").split("\t", 2) for line in file.open(encoding="utf-8")][:documents]
    features = Sequences().fit_transform([row[2] for row in rows])
    label_sets = [row[1].split() for row in rows]
    truth = LabelIndex.of(label_sets).truth(label_sets)
    times: list[float] = []
    fitting = Fitting(progress=lambda stage, done, total: times.append(time.process_time()))
    KimCnn(epochs=2, start_vectors="random", valid_share=0.0).fit(features, truth, fitting)
    steps = len(times) // 2 - 1  # of an epoch, whose last report is that of its end
    return times[2 * steps + 1] - times[steps]


if __name__ == "__main__":
    main()
