"""Sleeping experts for one label: multiplicative updates of the experts awake, in numpy."""

from typing import Any

import numpy as np


def train_experts(rows: Any, marks: Any, order: Any, beta: Any, votes: Any) -> None:
    """Change the weights (experts, 2) of votes against and for a label, document by document.

    `rows` is CSR: (starts, experts), the experts that are awake in each document. A step takes the
    document that `order` names next: the votes of its experts that were wrong are multiplied with
    `beta`, then all of them with what keeps their sum.
    """
    starts, experts = rows
    for document in order:
        awake, own = experts[starts[document] : starts[document + 1]], int(marks[document])
        right, wrong = votes[awake, own].sum(), votes[awake, 1 - own].sum()
        if right + wrong > 0:
            factors = np.where(np.arange(2) == own, 1.0, beta)
            votes[awake] *= factors * ((right + wrong) / (right + beta * wrong))


def warm() -> None:
    """There is nothing to compile."""
