"""The break-even point of one cut for all labels, where other documents are known by bins alone."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measure.rank_bins import RankBins, Values
from app.metrics.break_even import BreakEven, TopScores

EDGES = 1 << 15
REACH = 1_000_000
"""Highest scores of bins from which edges are chosen."""

Columns = Callable[[], Iterator[tuple[Values, RankBins]]]
Integers = NDArray[np.int64]


def bounded_break_even(columns: Columns, relevant: int) -> tuple[BreakEven, float]:
    """The middle of the lowest and the highest value that the bins allow, and half their distance.

    `columns` gives every label's true scores and bins of others, as often as it is called.
    """
    edges = _edges((true, others.high) for true, others in columns())
    if not relevant or not len(edges):
        return BreakEven(0.0, 0.0), 0.0
    right, fewest, most = (np.zeros(len(edges) + 1, np.int64) for _ in range(3))
    are_all_edges = True
    for true, others in columns():
        right += _counted(edges, true, np.ones(len(true), np.int64))
        fewest += _counted(edges, others.low, others.size)
        most += _counted(edges, others.high, others.size)
        are_all_edges = are_all_edges and all(_are_edges(edges, one) for one in (true, *others[:2]))
    right, fewest, most = (
        np.append(np.cumsum(one[::-1])[::-1], 0) for one in (right, fewest, most)
    )
    point = _nearest(right, right + (fewest + most) // 2, relevant)
    if are_all_edges:  # then there is no other cut, and a bin of one score is no bin
        return point, 0.0
    lower, upper = _bounds(right, right + fewest, right + most, relevant)
    return BreakEven((lower + upper) / 2, point.gap), (upper - lower) / 2


def _edges(columns: Iterable[tuple[Values, Values]]) -> Values:
    """Rising cuts: even choices of the true scores and of the highest others."""
    top, true = TopScores(REACH), [np.zeros(0, np.float32)]
    for own, others in columns:
        true.append(own)
        top.add(others)
    return np.unique(np.concatenate([_spread(np.concatenate(true)), _spread(top.kept())]))


def _spread(scores: Values) -> Values:
    ranks = np.linspace(0, len(scores) - 1, EDGES).astype(np.int64)
    return np.sort(scores)[np.unique(ranks)] if len(scores) else scores


def _counted(edges: Values, scores: Values, counts: Integers) -> Integers:
    """How many documents lie below the first edge, from it to the second, …"""
    bins = np.searchsorted(edges, scores, side="right")
    return np.bincount(bins, counts, len(edges) + 1).astype(np.int64)


def _are_edges(edges: Values, scores: Values) -> bool:
    at = np.minimum(np.searchsorted(edges, scores), len(edges) - 1)
    return bool((edges[at] == scores).all())


def _bounds(
    right: Integers, fewest: Integers, most: Integers, relevant: int
) -> tuple[float, float]:
    """The lowest and highest value of a cut that assigns about as many pairs as are true.

    Entry 0 is the cut below everything, entry n that at the n-th edge, the last one that above
    everything. The cut lies above the last
    edge at which enough are assigned for sure, and not above the first at which too many cannot be.
    """
    enough = int(np.flatnonzero(fewest >= relevant)[-1]) if fewest[0] >= relevant else 0
    few = np.flatnonzero(most <= relevant)
    tp_low, assigned_low = (right[few[0]], fewest[few[0]]) if len(few) else (0, 0)
    tp_high, assigned_high = right[enough], max(int(most[enough]), relevant)
    lower = (tp_low / assigned_high + tp_low / relevant) / 2
    precision = min(1.0, tp_high / max(min(int(assigned_low), relevant), 1))
    return float(lower), float(min(1.0, (precision + tp_high / relevant) / 2))


def _nearest(right: Integers, assigned: Integers, relevant: int) -> BreakEven:
    """The break-even point of these cuts alone."""
    precision, recall = right / np.maximum(assigned, 1), right / relevant
    gap = np.abs(precision - recall)
    best = np.lexsort((assigned, gap, np.abs(assigned - relevant)))[0]
    return BreakEven(float((precision[best] + recall[best]) / 2), float(gap[best]))
