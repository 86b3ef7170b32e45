"""Sigmoids for all labels at once: Newton's method, each label drawn to the pooled curve."""

import numpy as np
from numpy.typing import NDArray

from app.decisions.score_groups import ScoreGroups

SLOPE_SPREAD = 0.6
INTERCEPT_SPREAD = 2.0
"""How far labels are expected to lie from the pooled curve (see docs/decisions.md)."""
ROUNDS = 30


def fit_sigmoids(groups: ScoreGroups) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slopes (all positive) and intercepts of every label."""
    frequency = _log_odds(groups)
    pooled = _pooled(groups, frequency)
    slope, intercept = pooled[0], pooled[1] + pooled[2] * frequency
    prior = np.stack([np.full_like(intercept, slope), intercept], axis=1)
    parameters = prior.copy()
    pull = np.diag([1 / (SLOPE_SPREAD * slope) ** 2, 1 / INTERCEPT_SPREAD**2])
    inputs = np.stack([groups.scores, np.ones_like(groups.scores)], axis=2)
    for _ in range(ROUNDS):
        error, weight = _errors(groups, (inputs * parameters[:, None, :]).sum(axis=2))
        gradient = np.einsum("lg,lgi->li", error, inputs) - (parameters - prior) @ pull
        hessian = np.einsum("lg,lgi,lgj->lij", weight, inputs, inputs) + pull
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        parameters += np.clip(step, -2, 2)
        parameters[:, 0] = np.maximum(parameters[:, 0], 0.05 * slope)
        if np.abs(step).max(initial=0) < 1e-6:
            break
    return parameters[:, 0], parameters[:, 1]


def pooled_slope(groups: ScoreGroups) -> float:
    """How fast the log-odds rise with the score, over all labels together."""
    return float(_pooled(groups, _log_odds(groups))[0])


def _pooled(groups: ScoreGroups, frequency: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slope, intercept and the weight of the label's log-odds that fit all labels together."""
    shape = groups.scores.shape
    columns = [groups.scores, np.ones(shape), np.broadcast_to(frequency[:, None], shape)]
    inputs = np.stack(columns, axis=2)
    start: NDArray[np.float64] = np.array([1.0, 0.0, 0.0])
    found = start
    pull = np.diag([1e-2, 1e-2, 1e-2])
    for _ in range(ROUNDS):
        error, weight = _errors(groups, inputs @ found)
        gradient = np.einsum("lg,lgi->i", error, inputs) - pull @ (found - start)
        step = np.linalg.solve(np.einsum("lg,lgi,lgj->ij", weight, inputs, inputs) + pull, gradient)
        found = found + np.clip(step, -2, 2)
        found[0] = max(found[0], 0.05)
        if np.abs(step).max() < 1e-6:
            break
    return found


def _errors(
    groups: ScoreGroups, z: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Observed minus expected positives, and the expected variance, of every group."""
    expected = 1 / (1 + np.exp(-np.clip(z, -60, 60)))
    return groups.marked - groups.documents * expected, groups.documents * expected * (1 - expected)


def _log_odds(groups: ScoreGroups) -> NDArray[np.float64]:
    total = groups.documents.sum(axis=1)
    odds: NDArray[np.float64] = (groups.positives + 0.5) / (total - groups.positives + 0.5)
    return np.asarray(np.log(odds))
