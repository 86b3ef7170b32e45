"""What needs every score of a label: average precision, hulls for the curves, break-even."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import NEVER, Hulls, Points, upper_hull
from app.decisions.tuning.pr_curve import CurvePoint, pr_curve
from app.metrics.average_precision import Standing, average_precision, standing
from app.metrics.break_even import BreakEven, TopScores, break_even


@dataclass(frozen=True)
class ColumnFigures:
    """Figures from all scores of all labels."""

    average_precision: list[float | None]
    break_even: BreakEven
    hulls: Hulls


def column_figures(
    columns: Iterable[tuple[int, NDArray[np.float32], NDArray[np.bool_]]],
    support: NDArray[np.int64],
    n_documents: int,
) -> ColumnFigures:
    """One pass over the labels; `support` has their true pairs, then those of zero-shot labels."""
    top = TopScores(int(support.sum()))
    precisions: list[float | None] = []
    hulls: list[Points] = []
    right: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
    for _, scores, marks in columns:
        found = standing(scores, marks)
        top.add(scores)
        right.append(scores[marks])
        precisions.append(average_precision(found))
        hulls.append(hull_of(found))
    hulls += [NEVER] * (len(support) - len(hulls))
    point = break_even(top, np.concatenate(right))
    return ColumnFigures(precisions, point, joined(hulls, support, n_documents))


def joined(hulls: list[Points], support: NDArray[np.int64], n_documents: int) -> Hulls:
    """The labels' hulls in one; the cuts in them are scores, not midpoints."""
    return Hulls(
        np.cumsum([0, *(len(one.fp) for one in hulls)]).astype(np.int64),
        np.concatenate([NEVER.fp[:0], *(one.fp for one in hulls)]).astype(np.int32),
        np.concatenate([NEVER.tp[:0], *(one.tp for one in hulls)]).astype(np.int32),
        np.concatenate([NEVER.cuts[:0], *(one.cuts for one in hulls)]),
        support.astype(np.int32),
        n_documents,
    )


def hull_of(one: Standing) -> Points:
    """The upper hull of a label's (FP, TP); a label that is never found has one point only."""
    if not len(one.tp):
        return NEVER
    cuts = np.append(np.float32(np.inf), one.score)
    return upper_hull(Points(np.append(0, one.fp), np.append(0, one.tp), cuts))


def curves(hulls: Hulls) -> dict[str, list[dict[str, Any]]]:
    """The `curves` part of a report (Pillai et al. 2013, Algorithm 2)."""
    return {
        average: [_plain(p) for p in pr_curve(hulls, average)] for average in ("micro", "macro")
    }


def _plain(point: CurvePoint) -> dict[str, Any]:
    return {"beta": point.beta, "precision": point.precision, "recall": point.recall}
