"""Sigmoids for all labels at once: Newton's method, each label shrunk to the pooled curve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.decisions.calibration.score_groups import ScoreGroups

SLOPE_SPREAD = 0.6
INTERCEPT_SPREAD = 2.0
"""How far labels are expected to lie from the pooled curve (see docs/decisions.md)."""
LEAST_SLOPE = 0.05
"""The flattest curve allowed, as a share of the pooled slope: curves must rise."""
ROUNDS, HALVINGS = 40, 8

Array = NDArray[np.float64]


def fit_sigmoids(groups: ScoreGroups) -> tuple[Array, Array]:
    """Slopes (all positive) and intercepts of every label."""
    scale, frequency = _scale(groups), _log_odds(groups)
    slope, intercept, weight = _pooled(groups, scale, frequency)
    prior = np.stack([np.full_like(frequency, slope), intercept + weight * frequency], axis=1)
    inputs = np.stack([groups.scores / scale, np.ones_like(groups.scores)], axis=2)
    prior_strength = np.array([1 / (SLOPE_SPREAD * slope) ** 2, 1 / INTERCEPT_SPREAD**2])
    problem = SigmoidProblem(inputs, groups.documents, groups.marked, prior, prior_strength)
    found = problem.solution(least_slope=LEAST_SLOPE * slope)
    return found[:, 0] / scale, found[:, 1]


def pooled_slope(groups: ScoreGroups) -> float:
    """How fast the log-odds rise with the score, over all labels together."""
    scale = _scale(groups)
    return float(_pooled(groups, scale, _log_odds(groups))[0] / scale)


@dataclass(frozen=True, slots=True)
class SigmoidProblem:
    """Logistic regressions side by side, each shrunk to its prior with the same strength.

    `inputs` (problems, groups, parameters), the first of which is the score; `documents` and
    `marked` (problems, groups); `prior` (problems, parameters); `prior_strength` (parameters,).
    """

    inputs: Array
    documents: Array
    marked: Array
    prior: Array
    prior_strength: Array

    def solution(self, *, least_slope: float) -> Array:
        """The parameters of the least loss, by Newton steps that are halved while they do harm."""
        found = self.prior.copy()
        loss = self._loss(found)
        for _ in range(ROUNDS):
            step = self._newton_step(found)
            for _ in range(HALVINGS):
                tried = found + step
                tried[:, 0] = np.maximum(tried[:, 0], least_slope)
                tried_loss = self._loss(tried)
                worse = tried_loss > loss + 1e-9
                if not worse.any():
                    break
                step[worse] /= 2
            else:
                tried[worse], tried_loss[worse] = found[worse], loss[worse]
            change = np.abs(tried - found).max(initial=0)
            found, loss = tried, tried_loss
            if change < 1e-6:
                break
        return found

    def _newton_step(self, found: Array) -> Array:
        expected = _sigmoid(np.einsum("lgi,li->lg", self.inputs, found))
        error = self.marked - self.documents * expected
        weight = self.documents * expected * (1 - expected)
        gradient = (
            np.einsum("lg,lgi->li", error, self.inputs) - (found - self.prior) * self.prior_strength
        )
        hessian = np.einsum("lg,lgi,lgj->lij", weight, self.inputs, self.inputs)
        hessian += np.diag(self.prior_strength)
        return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0])

    def _loss(self, found: Array) -> Array:
        z = np.einsum("lgi,li->lg", self.inputs, found)
        fits = np.logaddexp(0, z) * self.documents - z * self.marked
        penalty = (found - self.prior) ** 2 @ self.prior_strength / 2
        return np.asarray(fits.sum(axis=1) + penalty)


def _pooled(groups: ScoreGroups, scale: float, frequency: Array) -> Array:
    """Slope, intercept and the weight of the label's log-odds that fit all labels together."""
    columns = (groups.scores / scale, np.ones_like(groups.scores))
    frequencies = np.broadcast_to(frequency[:, None], groups.scores.shape)
    inputs = np.stack([*columns, frequencies], axis=2).reshape(1, -1, 3)
    documents, marked = groups.documents.reshape(1, -1), groups.marked.reshape(1, -1)
    start = np.array([[1.0, 0.0, 1.0]])
    problem = SigmoidProblem(inputs, documents, marked, start, np.full(3, 1e-2))
    return np.asarray(problem.solution(least_slope=LEAST_SLOPE)[0])


def _scale(groups: ScoreGroups) -> float:
    """How far the scores spread within a label, so that their unit does not matter."""
    total = np.maximum(groups.documents.sum(axis=1, keepdims=True), 1)
    mean = (groups.scores * groups.documents).sum(axis=1, keepdims=True) / total
    squares = (groups.documents * (groups.scores - mean) ** 2).sum()
    return float(np.sqrt(squares / max(groups.documents.sum(), 1))) or 1.0


def _sigmoid(z: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(z, -60, 60))))


def _log_odds(groups: ScoreGroups) -> Array:
    total = groups.documents.sum(axis=1)
    odds = (groups.positives + 0.5) / (total - groups.positives + 0.5)
    return np.asarray(np.log(odds))
