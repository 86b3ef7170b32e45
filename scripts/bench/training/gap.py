"""How far from its optimum each label's training ends, beside LIBLINEAR at the same tolerance."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

LABELS = 48
LOSSES = {
    1: lambda margins: np.maximum(0, 1 - margins) ** 2,
    3: lambda margins: np.maximum(0, 1 - margins),
    7: lambda margins: np.logaddexp(0, -margins),
}


def gap_table(folder: Path) -> Iterator[str]:
    """Mean and worst relative gap of the primal objective over labels of all frequencies."""
    yield ""
    yield (
        f"debtags, {LABELS} labels from frequent to rare, default tolerances: relative gap of the "
        "primal objective above the best value known (LIBLINEAR at `-e 1e-5`)."
    )
    yield ""
    yield "| solver | block: mean | block: worst | LIBLINEAR: mean | LIBLINEAR: worst |"
    yield "|---|---|---|---|---|"
    for solver in LOSSES:
        block, liblinear = gaps(folder, solver)
        yield (
            f"| -s {solver} | {block.mean():.1e} | {block.max():.1e} "
            f"| {liblinear.mean():.1e} | {liblinear.max():.1e} |"
        )


def gaps(folder: Path, solver: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each label's relative gap for the block solver and for LIBLINEAR."""
    from app.learners.one_vs_rest import OneVsRest

    features = csr_array(load_npz(folder / "train_features.npz"))
    marks = csr_array(load_npz(folder / "train_marks.npz"), dtype=np.bool_)
    order = np.argsort(-marks.sum(axis=0), kind="stable")
    marks = marks[:, order[np.linspace(0, len(order) - 1, LABELS).astype(int)]]

    def objective(name: str, tolerance: str) -> NDArray[np.float64]:
        learner = OneVsRest(f"-s {solver} {tolerance}", name, 0).fit(features, marks)
        return primal(learner, features, marks, solver)

    block, liblinear = objective("block", ""), objective("liblinear", "")
    best = np.minimum(objective("liblinear", "-e 1e-5"), np.minimum(block, liblinear))
    return block / best - 1, liblinear / best - 1


def primal(learner: Any, features: Any, marks: Any, solver: int) -> NDArray[np.float64]:
    """½‖w‖² + Σ loss for every label, at cost 1 with a bias feature of 1."""
    every = np.arange(features.shape[1])
    columns = [learner.weights.of_label(every, label) for label in range(marks.shape[1])]
    weights = np.stack(columns, axis=1).astype(np.float64)
    bias = learner.weights.bias.astype(np.float64)
    margins = np.where(marks.toarray(), 1.0, -1.0) * (features @ weights + bias)
    squares = (weights**2).sum(axis=0) + bias**2
    total: NDArray[np.float64] = 0.5 * squares + LOSSES[solver](margins).sum(axis=0)
    return total
