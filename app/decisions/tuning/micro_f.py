"""The cuts of the highest micro-F_β: its global maximum, for any β, from one sorted list.

Micro-F_β = (1+β²)·TP / (TP + FP + β²·P). Let a *step* be an edge of a label's hull: lowering that
cut by one vertex adds ΔTP right and ΔFP wrong assignments. By fractional programming a step belongs
to the best solution exactly if ΔTP / (ΔTP + ΔFP) is above TP / (TP + FP + β²·P) of the solution.
So the best solutions for all β are beginnings of one list: all steps of all labels by falling
precision of the step. This reaches the same maximum as Algorithm 1 of Pillai et al. (2013).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Hulls


@dataclass(frozen=True, slots=True)
class Steps:
    """All hull edges by falling precision of the step, and the counts after each of them.

    `tp[n]` and `fp[n]` are the counts when the first n steps are taken, so they start with 0.
    """

    label: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    positives: int

    @classmethod
    def of(cls, hulls: Hulls) -> "Steps":
        """The steps of all labels; among equals the lower label first."""
        label = hulls.label_of_vertex[1:]
        tp, fp = np.diff(hulls.tp.astype(np.int64)), np.diff(hulls.fp.astype(np.int64))
        inside = np.diff(hulls.label_of_vertex) == 0
        label, tp, fp = label[inside], tp[inside], fp[inside]
        order = np.argsort(-tp / (tp + fp), kind="stable")
        return cls(label[order], _running(tp[order]), _running(fp[order]), hulls.n_positives)

    def best(self, beta: float) -> int:
        """How many steps maximise micro-F_β; the fewest among equals, that is the highest cuts."""
        assigned = self.tp + self.fp + beta**2 * self.positives
        return int(np.argmax(self.tp / np.maximum(assigned, 1)))

    def vertices(self, hulls: Hulls, n_steps: int) -> NDArray[np.int64]:
        """The vertex that each label stands on after the first n steps."""
        taken = np.bincount(self.label[:n_steps], minlength=hulls.n_labels)
        return hulls.offsets[:-1] + taken


def _running(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def micro_f_vertices(hulls: Hulls, beta: float = 1.0) -> NDArray[np.int64]:
    """Each label's vertex at the highest micro-F_β that any cuts reach."""
    steps = Steps.of(hulls)
    return steps.vertices(hulls, steps.best(beta))


def micro_f(hulls: Hulls, vertices: NDArray[np.int64], beta: float = 1.0) -> float:
    """Micro-F_β on the held-out data with each label's cut at the given vertex; 0/0 is 0."""
    tp, fp = int(hulls.tp[vertices].sum()), int(hulls.fp[vertices].sum())
    denominator = tp + fp + beta**2 * hulls.n_positives
    return (1 + beta**2) * tp / denominator if denominator else 0.0
