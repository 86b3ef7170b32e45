"""Sleeping experts for one label: multiplicative updates of the experts awake, compiled."""

from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import kernel


@kernel
def train_experts(rows: Any, marks: Any, order: Any, beta: Any, votes: Any) -> None:
    """Change the weights (experts, 2) of votes against and for a label, document by document.

    `rows` is CSR: (starts, experts), the experts that are awake in each document. A step takes the
    document that `order` names next: the votes of its experts that were wrong are multiplied with
    `beta`, then all of them with what keeps their sum.
    """
    starts, experts = rows
    for document in order:
        right, wrong, own = 0.0, 0.0, 1 if marks[document] else 0
        for at in range(starts[document], starts[document + 1]):
            right += votes[experts[at], own]
            wrong += votes[experts[at], 1 - own]
        if right + wrong == 0.0:
            continue
        scale = (right + wrong) / (right + beta * wrong)
        for at in range(starts[document], starts[document + 1]):
            votes[experts[at], own] *= scale
            votes[experts[at], 1 - own] *= scale * beta


def warm() -> None:
    """Compile everything here."""
    zero = read_only(np.zeros(1, np.int32))
    rows, marks = (read_only(np.array([0, 1])), zero), read_only(np.zeros(1, np.bool_))
    train_experts(rows, marks, zero, 0.5, np.ones((1, 2)))
