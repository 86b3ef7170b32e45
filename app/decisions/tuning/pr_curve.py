"""Precision–recall trade-offs: all best points for all β, and the curve of Pillai's Algorithm 2.

Raising β only ever lowers cuts, one hull step at a time. `Path` is that order of steps with the
precision and recall after each, so that no β has to be guessed: it holds the points of every β.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.decisions.expectation.expectations import (
    BETAS,
    LEAST_PRICE,
    Correction,
    Expectations,
)
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.macro_f import macro_f_vertices
from app.decisions.tuning.micro_f import Steps, micro_f_vertices


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision and recall on held-out data at the cuts that maximise F_β."""

    beta: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Path:
    """Hull steps in the order in which growing β takes them.

    `precision[n]` and `recall[n]` hold on the held-out scores when the first `taken[n]` steps are
    taken; recall rises. The `expected` ones are those corrected, where corrections are known, and
    the deviations are then standard deviations of what a test set finds.
    """

    label: NDArray[np.int64]
    taken: NDArray[np.int64]
    places: NDArray[np.float64]
    """The price of each point (micro, falling) or the β from which it is best (macro, rising)."""
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    expected_precision: NDArray[np.float64]
    expected_recall: NDArray[np.float64]
    deviations: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """Of precision and of recall; None where they are not known."""

    @classmethod
    def micro(cls, hulls: Hulls, expectations: Expectations | None = None) -> "Path":
        """By falling precision of the step; precision never rises along it."""
        steps = Steps.of(hulls)
        tp, fp, positives = steps.tp[1:], steps.fp[1:], max(steps.positives, 1)
        taken = np.arange(1, len(tp) + 1)
        precision, recall = tp / (tp + fp), tp / positives
        prices = np.diff(steps.tp) / np.diff(steps.tp + steps.fp)
        path = cls(steps.label, taken, prices, precision, recall, precision, recall)
        return path if expectations is None else path._corrected(expectations.at("micro", prices))

    @classmethod
    def macro(cls, hulls: Hulls, expectations: Expectations | None = None) -> "Path":
        """By rising β at which the step begins to pay for its own label; steps of equal β together.

        The mean runs over labels that have a held-out positive. Steps of which hardly anything is
        right are left out (`LEAST_PRICE`): they raise a rare label's recall by handing it to
        hundreds of documents.
        """
        label, ahead, behind = _edges(hulls)
        positives = hulls.positives[label].astype(np.float64)
        tp, assigned = hulls.tp.astype(np.float64), (hulls.tp + hulls.fp).astype(np.float64)
        gained = tp[ahead] - tp[behind]
        beta2 = tp[behind] * assigned[ahead] - tp[ahead] * assigned[behind]
        beta2 /= positives * gained
        order = np.argsort(beta2, kind="stable")
        precisions = tp / np.maximum(assigned, 1)
        n_measured = max(int((hulls.positives > 0).sum()), 1)
        precision = np.cumsum((precisions[ahead] - precisions[behind])[order]) / n_measured
        recall = np.cumsum((gained / positives)[order]) / n_measured
        last = np.flatnonzero(np.diff(beta2[order], append=np.inf))
        betas = np.sqrt(np.maximum(beta2[order][last], 0))
        if expectations is not None:  # of a smaller β nothing is known but what the first has
            first = max(int(np.searchsorted(betas, BETAS[0], side="right")) - 1, 0)
            last, betas = last[first:], betas[first:]
        seen = precision[last], recall[last]
        path = cls(label[order], last + 1, betas, *seen, *seen)
        return path if expectations is None else path._corrected(expectations.at("macro", betas))

    def _corrected(self, correction: Correction) -> "Path":
        return replace(
            self,
            expected_precision=np.clip(self.precision + correction.precision, 0, 1),
            # More is assigned from point to point, so what is found cannot fall.
            expected_recall=np.maximum.accumulate(np.clip(self.recall + correction.recall, 0, 1)),
            deviations=(correction.precision_deviation, correction.recall_deviation),
        )

    def vertices(self, hulls: Hulls, n: int) -> NDArray[np.int64]:
        """The vertex that each label stands on at the path's n-th point."""
        taken = self.label[: self.taken[n]]
        return hulls.offsets[:-1] + np.bincount(taken, minlength=hulls.n_labels)


def micro_figures(hulls: Hulls, vertices: NDArray[np.int64]) -> tuple[float, float]:
    """Micro-precision and -recall on held-out data; 0/0 is 0."""
    tp, fp = int(hulls.tp[vertices].sum()), int(hulls.fp[vertices].sum())
    return tp / max(tp + fp, 1), tp / max(hulls.n_positives, 1)


def macro_figures(hulls: Hulls, vertices: NDArray[np.int64]) -> tuple[float, float]:
    """Macro-precision and -recall over the labels that have a held-out positive; 0/0 is 0."""
    measured = hulls.positives > 0
    if not measured.any():
        return 0.0, 0.0
    tp, fp = hulls.tp[vertices][measured], hulls.fp[vertices][measured]
    recall = tp / hulls.positives[measured]
    return float((tp / np.maximum(tp + fp, 1)).mean()), float(recall.mean())


AVERAGES = {
    "micro": (micro_f_vertices, micro_figures),
    "macro": (macro_f_vertices, macro_figures),
}


def pr_curve(hulls: Hulls, average: str = "micro", m: int = 10) -> list[CurvePoint]:
    """The points of best F_β for 2m − 1 values of β that no other dominates, by rising recall.

    Algorithm 2 of Pillai et al. (2013), β = cot(kπ/4m)^{3/2}, between its two fixed ends
    (precision 1, recall 0) and (precision 0, recall 1).
    """
    best, figures = AVERAGES[average]
    betas = [math.tan(math.pi / 2 - k * math.pi / (4 * m)) ** 1.5 for k in range(1, 2 * m)]
    found = [CurvePoint(beta, *figures(hulls, best(hulls, beta))) for beta in betas]
    return [CurvePoint(0.0, 1.0, 0.0), *_undominated(found), CurvePoint(math.inf, 0.0, 1.0)]


def _undominated(found: list[CurvePoint]) -> list[CurvePoint]:
    kept: list[CurvePoint] = []
    for point in sorted(found, key=lambda p: (-p.recall, -p.precision)):
        if not kept or point.precision > kept[-1].precision:
            kept.append(point)
    return kept[::-1]


def _edges(hulls: Hulls) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Label, vertex ahead and vertex behind of every hull edge worth taking for its own label."""
    label = hulls.label_of_vertex
    right, wrong = np.diff(hulls.tp.astype(np.float64)), np.diff(hulls.fp.astype(np.float64))
    is_worth = right >= LEAST_PRICE * (right + wrong)
    behind = np.flatnonzero((label[1:] == label[:-1]) & is_worth)
    return label[behind], behind + 1, behind
