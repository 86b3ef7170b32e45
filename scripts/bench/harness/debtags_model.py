"""The model that the prediction benchmarks share: trained once by scripts/train.py, on debtags."""

import subprocess
import sys

import numpy as np
from bench.harness.environment import ROOT, WORK, data_folder, program_environment

MODELS = WORK / "models"


def prepare() -> None:
    """Train it unless it is there, and write its weights as one dense matrix for the peers."""
    if not (MODELS / "debtags" / "current").exists():
        data = data_folder() / "debtags" / "train.txt.gz"
        command = [sys.executable, "scripts/train.py", str(data), "--model", "debtags"]
        options = ["--models-dir", str(MODELS), "--jobs", "2", "--quality", "fast"]
        subprocess.run(
            [*command, *options], check=True, cwd=ROOT, env=program_environment("labelserve")
        )
    if not (MODELS / "stacked.npy").exists():
        np.save(MODELS / "stacked.npy", stacked())


def stacked() -> np.ndarray:
    """Weights (features + 1, labels), the bias in the last row."""
    from app.artifacts.store import Store
    from app.model import load_model

    learner = load_model(Store(MODELS), "debtags").classifier.members[0].learner
    weights = learner.weights  # type: ignore[attr-defined]
    return np.vstack([weights.matrix().toarray(), weights.bias])
