"""leaderboard: all kept evaluations of one data set, best first, and which cannot be told apart."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from app.errors import DamagedEvaluationError, InvalidRequestError
from app.evaluation.compare.common_columns import (
    ComparedSystem,
    in_common_columns,
    zero_shot_counts,
)
from app.evaluation.compare.conclusions import LEVEL
from app.evaluation.compare.kept_comparison import RESAMPLES, Resampling, paired_test
from app.evaluation.compare.leaderboard_entries import chosen_entries, rank_key
from app.evaluation.kept.evaluation import OpenedEvaluation, opened
from app.evaluation.kept.resampling import observed_figures, resampled_figures
from app.evaluation.report.report import json_safe
from app.metrics.significance.bootstrap import Values, percentile_interval
from app.metrics.significance.holm import holm
from app.metrics.significance.letter_groups import letter_groups

PAIRS = 20
"""Pairs that `RESAMPLES` are enough for: Holm's smallest p is then 20 · 2 / 1001, below 0.05."""


ALL_LABELS = "macro."


@dataclass(frozen=True)
class RankedEvaluation:
    """An evaluation's figure, and its values in the resamples; None where there are none."""

    id: str
    value: float | None
    resampled: Values | None

    @property
    def interval(self) -> list[float] | None:
        """Where the figure lies in 95 % of the resamples."""
        if self.resampled is None or self.value is None:
            return None
        return list(percentile_interval(self.resampled))


def leaderboard(
    folders: Mapping[str, Path], figure: str = "micro.f1", resampling: Resampling | None = None
) -> dict[str, Any]:
    """The rows, best first, the test of every pair, and what was left out and why.

    `folders` has each evaluation's by its id, the newest first. Two rows that share a letter in
    `group` cannot be told apart: Holm's p over all pairs is at least 0.05. Figures that are not
    sums over documents (`ece`, `break_even` …) have no intervals, tests or groups. Without
    `resampling` there are the more resamples, the more pairs.
    """
    entries = chosen_entries(folders, figure)
    with ExitStack() as stack:
        kept = _opened({id: folders[id] for id in entries.facts}, entries.left_out, stack)
        resampling = resampling or Resampling(_enough(len(kept)))
        ranked = _ranked(kept, figure, resampling) if kept else []
    pairs = _pairs(ranked)
    left_out = [{"evaluation": id, "why": why} for id, why in entries.left_out.items()]
    board = {
        "figure": figure,
        "resamples": resampling.resamples,
        "rows": _rows(ranked, pairs, figure),
        "pairs": pairs,
        "left_out": left_out,
    }
    return json_safe(board)  # type: ignore[no-any-return]


def _opened(
    folders: Mapping[str, Path], left_out: dict[str, str], stack: ExitStack
) -> dict[str, OpenedEvaluation]:
    """The evaluations until the stack ends; a damaged one is left out."""
    kept = {}
    for id, folder in folders.items():
        try:
            kept[id] = stack.enter_context(opened(folder))
        except DamagedEvaluationError as error:
            left_out[id] = str(error)
    return kept


def _enough(rows: int) -> int:
    """Resamples with which the smallest of all pairs' p can be below 0.05 after Holm."""
    return RESAMPLES * max(1, ceil(rows * (rows - 1) / 2 / PAIRS))


def _ranked(
    kept: Mapping[str, OpenedEvaluation], figure: str, resampling: Resampling
) -> list[RankedEvaluation]:
    """Best first, what is not defined last; equal ones stay as they were."""
    evaluations = list(kept.values())
    systems = in_common_columns(evaluations, with_zero_shot=zero_shot_counts(evaluations))
    _check_labels(systems, figure)
    counted = [system.counted for system in systems]
    observed = observed_figures(counted, figure)
    if observed is None:
        given = zip(kept, (one.facts.figures.get(figure) for one in evaluations), strict=True)
        ranked = [RankedEvaluation(id, value, None) for id, value in given]
    else:
        drawn = resampled_figures(counted, resampling.resamples, resampling.seed, [figure])
        found = zip(kept, observed, drawn, strict=True)
        ranked = [RankedEvaluation(id, value, one[figure]) for id, value, one in found]
    return sorted(ranked, key=lambda one: rank_key(one.value, figure))


def _check_labels(systems: list[ComparedSystem], figure: str) -> None:
    """Averages over all labels would differ by the number of labels alone."""
    labels = {tuple(sorted(system.names)) for system in systems}
    if len(labels) > 1 and figure.startswith(ALL_LABELS):
        instead = figure.replace(ALL_LABELS, "macro_in_test.")
        raise InvalidRequestError(
            f"{figure} averages over all labels, and these models know different ones; {instead} "
            "averages over the labels in the test set"
        )


def _pairs(ranked: list[RankedEvaluation]) -> list[dict[str, Any]]:
    """The paired bootstrap of every two rows, the better one first, and Holm's p over all."""
    tests = [
        {"a": a.id, "b": b.id, "difference": a.value - b.value, **test}
        for a, b in combinations(ranked, 2)
        if a.value is not None and b.value is not None
        if a.resampled is not None and b.resampled is not None
        if (test := paired_test(a.resampled, b.resampled)) is not None
    ]
    adjusted = holm(np.array([test["p"] for test in tests], np.float64)).tolist()
    return [{**test, "p_holm": p} for test, p in zip(tests, adjusted, strict=True)]


def _rows(
    ranked: list[RankedEvaluation], pairs: list[dict[str, Any]], figure: str
) -> list[dict[str, Any]]:
    position = {one.id: row for row, one in enumerate(ranked)}
    told_apart = [
        (position[pair["a"]], position[pair["b"]]) for pair in pairs if pair["p_holm"] < LEVEL
    ]
    letters = letter_groups(len(ranked), told_apart)
    keys = [rank_key(one.value, figure) for one in ranked]
    return [
        {
            "rank": 1 + keys.index(key),
            "group": letters[row] if one.resampled is not None and one.value is not None else None,
            "evaluation": one.id,
            "value": one.value,
            "interval": one.interval,
        }
        for row, (one, key) in enumerate(zip(ranked, keys, strict=True))
    ]
