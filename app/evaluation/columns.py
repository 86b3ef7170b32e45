"""What needs every score of a label: average precision, hulls for the curves, break-even."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.decisions.hulls import NEVER, Hulls, Points, upper_hull
from app.decisions.pr_curve import CurvePoint, pr_curve
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
    standings: list[Standing] = []
    right: list[NDArray[np.float32]] = []
    for _, scores, marks in columns:
        top.add(scores)
        right.append(scores[marks])
        standings.append(standing(scores, marks))
    found = np.concatenate([np.zeros(0, np.float32), *right])
    return ColumnFigures(
        [average_precision(one) for one in standings],
        break_even(top, found),
        hulls_of([*standings, *never_found(support[len(standings) :])], n_documents),
    )


def never_found(support: NDArray[np.int64]) -> list[Standing]:
    """The standings of zero-shot labels: true documents, none of which has a score."""
    empty = np.zeros(0, np.int64)
    return [Standing(np.zeros(0, np.float32), empty, empty, n) for n in support.tolist()]


def hulls_of(standings: list[Standing], n_documents: int) -> Hulls:
    """Upper hulls of the labels' (FP, TP); the cuts in them are scores, not midpoints."""
    points = [upper_hull(_points(one)) for one in standings]
    return Hulls(
        np.cumsum([0, *(len(one.fp) for one in points)]).astype(np.int64),
        np.concatenate([NEVER.fp[:0], *(one.fp for one in points)]).astype(np.int32),
        np.concatenate([NEVER.tp[:0], *(one.tp for one in points)]).astype(np.int32),
        np.concatenate([NEVER.cuts[:0], *(one.cuts for one in points)]),
        np.array([one.positives for one in standings], np.int32),
        n_documents,
    )


def curves(hulls: Hulls) -> dict[str, list[dict[str, Any]]]:
    """The `curves` part of a report (Pillai et al. 2013, Algorithm 2)."""
    return {
        average: [_plain(p) for p in pr_curve(hulls, average)] for average in ("micro", "macro")
    }


def _plain(point: CurvePoint) -> dict[str, Any]:
    return {"beta": point.beta, "precision": point.precision, "recall": point.recall}


def _points(one: Standing) -> Points:
    if not len(one.tp):
        return NEVER
    cuts = np.append(np.float32(np.inf), one.score)
    return Points(np.append(0, one.fp), np.append(0, one.tp), cuts)
