"""Networks on Reuters: quality, time and memory, through the product's own commands.

Each network is trained and judged as a user does it (scripts/train.py, scripts/evaluate.py), in
processes of their own; what was measured stays in .cache/bench, so that networks can be run one by
one: `neural.py --only mlp,kim-cnn`. Without `--only` all are run again. `--quick`: one, briefly.
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

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import WORK, data_folder, machine
from bench.neural_served import served
from bench.peers_venv import ROOT
from bench.sections import write_section

from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.neural.kim_cnn import KimCnn
from app.vectorizers.sequences import Sequences

NETWORKS = ["mlp", "kim-cnn", "xml-cnn", "cnn-lwan", "caml", "bigru-lwan", "bilstm-lwan"]
MODELS = WORK / "neural-models"
PEER = ROOT / ".venv-peers-neural"
PEER_PACKAGES = ["torch==2.13.0", "libmultilabel[nn]", "setuptools<80"]
EPOCH_DOCUMENTS = 1000
COMMAND = ".venv/bin/python scripts/bench/run.py --only neural"


def main() -> None:
    """Train, judge and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="some learners, separated by commas")
    parser.add_argument("--quick", action="store_true", help="a check, nothing is written")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if options.quick:
        print(measured("mlp", ["--set", "learner.epochs=1", "--folds", "2"]))
        return
    if options.only in ("", "epochs"):
        (WORK / "neural-epochs.json").write_text(json.dumps(epochs()))
    chosen = options.only.split(",") if options.only else NETWORKS
    for learner in [one for one in chosen if one != "epochs"]:
        figures = measured(learner, [])
        (WORK / f"neural-{learner}.json").write_text(json.dumps(figures))
        print(learner, figures, flush=True)
    write_section("neural", section())


def measured(learner: str, options: list[str]) -> dict[str, Any]:
    """Figures of one learner: micro/macro-F1 and P@1 on the test set, minutes and megabytes."""
    corpus, name = data_folder() / "reuters", learner.replace(":", ".").replace(",", ".")
    common = ["--models-dir", str(MODELS)]
    train = [str(corpus / "train.txt.gz"), "--model", name, "--learner", learner, "--jobs", "1"]
    spent = run("train.py", [*train, *common, *options])
    report = WORK / f"neural-{name}-report.json"
    run("evaluate.py", [name, str(corpus / "test.txt.gz"), "--json", str(report), *common])
    found = json.loads(report.read_text())
    decisions = found["decisions"]
    return {
        "micro": decisions["micro"]["f1"],
        "macro": decisions["macro"]["f1"],
        "p1": found["ranking"]["P@1"],
        **spent,
        **served(MODELS, name),
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
    script = Path(__file__).parent / "peers" / "kim_cnn_libmultilabel.py"
    command = [str(python), str(script), str(part)]
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


def section() -> str:
    """The table of everything measured so far."""
    lines = [
        "## Networks on Reuters",
        "",
        "Reuters-21578, ModApte, 7,770 training and 3,019 test documents, 90 labels; default",
        "settings, `micro-f` cuts tuned on held-out training documents, nothing on the test set.",
        "Minutes are those of training with all that belongs to it (vectorizing, folds where the",
        "learner uses them, tuning, writing), on one thread; nothing ran on a GPU.",
        "",
        "Served: one worker, 300 test documents, one a request, and all 300 in one request for the",
        "largest difference of a score; memory is that of the serving process.",
        "",
        "| learner | micro-F1 | macro-F1 (all labels) | P@1 | CPU minutes | minutes | peak MB "
        "| p50 / p99 ms | served MB | alone and in a batch |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for file in sorted(WORK.glob("neural-*.json")):
        learner = file.stem.removeprefix("neural-")
        if not learner.endswith("-report") and learner != "epochs":
            lines.append(_row(learner, json.loads(file.read_text())))
    epochs = WORK / "neural-epochs.json"
    if epochs.exists():
        lines += ["", _epochs(json.loads(epochs.read_text()))]
    return "\n".join([*lines, "", f"{machine()} · `{COMMAND}`"])


def _row(learner: str, found: dict[str, Any]) -> str:
    quality = f"{found['micro']:.4f} | {found['macro']:.4f} | {found['p1']:.4f}"
    cost = f"{found['cpu_minutes']:.1f} | {found['minutes']:.1f} | {found['megabytes']:.0f}"
    times = f"{found['p50_ms']:.0f} / {found['p99_ms']:.0f} | {found['server_megabytes']:.0f}"
    return f"| `{learner}` | {quality} | {cost} | {times} | {found['largest_difference']:.1e} |"


def _epochs(found: dict[str, float]) -> str:
    ours, theirs = found["labelserve"], found["libmultilabel"]
    return (
        "One epoch of kim-cnn (300 dimensions, windows of 2, 4 and 8 words, 128 filters each, "
        f"batches of 64, one thread) over {EPOCH_DOCUMENTS:,} documents: ours {ours:.1f} s of CPU, "
        f"LibMultiLabel 0.10's KimCNN "
        f"{theirs:.1f} s ({theirs / ours:.1f} times as long)."
    )


if __name__ == "__main__":
    main()
