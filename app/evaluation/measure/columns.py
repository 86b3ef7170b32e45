"""What needs every score of a label: its label metrics, hulls for the curves, break-even."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import NEVER, Hulls, Points, upper_hull
from app.metrics.base import label_metrics
from app.metrics.break_even import BreakEven, TopScores, break_even
from app.metrics.counting.ranked_positives import RankedPositives, never_found, ranked_positives


@dataclass(frozen=True)
class ColumnFigures:
    """Figures from all scores of all labels."""

    labels: dict[str, list[float | None]]
    """The label metrics of every column, zero-shot ones last."""
    break_even: BreakEven
    hulls: Hulls


@dataclass(frozen=True)
class ErrorBounds:
    """How far approximated figures may be off."""

    labels: dict[str, float]
    """For every label metric that has bounds: how far any label's value may be off."""
    micro_f1: float
    break_even: float


def column_figures(
    columns: Iterable[tuple[int, NDArray[np.float32], NDArray[np.bool_]]],
    support: NDArray[np.int64],
    n_documents: int,
) -> ColumnFigures:
    """One pass over the labels; `support` has their true pairs, then those of zero-shot labels."""
    top = TopScores(int(support.sum()))
    metrics = label_metrics()
    labels: dict[str, list[float | None]] = {name: [] for name in metrics}
    hulls: list[Points] = []
    true_scores: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
    for label, scores, marks in columns:
        ranked = ranked_positives(scores, marks, int(support[label]))
        top.add(scores)
        true_scores.append(scores[marks])
        hulls.append(hull_of(ranked))
        for name, metric in metrics.items():
            labels[name].append(metric.value(ranked))
    add_zero_shot(labels, support[len(hulls) :])
    point = break_even(top, np.concatenate(true_scores))
    return ColumnFigures(labels, point, stacked_hulls(hulls, support, n_documents))


def add_zero_shot(labels: dict[str, list[float | None]], support: NDArray[np.int64]) -> None:
    """Append the label metrics of labels that are never found, given their true documents."""
    for name, metric in label_metrics().items():
        labels[name] += [metric.value(never_found(n)) for n in support.tolist()]


def stacked_hulls(hulls: list[Points], support: NDArray[np.int64], n_documents: int) -> Hulls:
    """The labels' hulls in one, zero-shot labels last; the cuts are scores, not midpoints."""
    hulls = [*hulls, *[NEVER] * (len(support) - len(hulls))]
    return Hulls(
        np.cumsum([0, *(len(one.fp) for one in hulls)]).astype(np.int64),
        np.concatenate([NEVER.fp[:0], *(one.fp for one in hulls)]).astype(np.int32),
        np.concatenate([NEVER.tp[:0], *(one.tp for one in hulls)]).astype(np.int32),
        np.concatenate([NEVER.cuts[:0], *(one.cuts for one in hulls)]),
        support.astype(np.int32),
        n_documents,
    )


def hull_of(ranked: RankedPositives) -> Points:
    """The upper hull of a label's (FP, TP); a label that is never found has one point only."""
    if not len(ranked.tp):
        return NEVER
    cuts = np.append(np.float32(np.inf), ranked.score)
    return upper_hull(Points(np.append(0, ranked.fp), np.append(0, ranked.tp), cuts))
