"""Calibration: the probability that a score means, per label, fitted on held-out scores.

Every label has a sigmoid σ(slope·score + intercept). Its two numbers are shrunk to what all labels
together say (given the label's frequency), the more so the fewer positives it has, so that a rare
label gets the pooled curve. Labels with many positives get an isotonic curve instead, which assumes
no shape. Both rise with the score: within a label the order by probability is the order by score.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores
from app.decisions.calibration.isotonic import isotonic_curve
from app.decisions.calibration.score_groups import ScoreGroups
from app.decisions.calibration.sigmoids import fit_sigmoids
from app.errors import DamagedArtifactError
from app.heldout import HeldOut
from app.kernels.linear.answer_values import NO_CURVES, Curves
from app.state import State

ENOUGH_FOR_ISOTONIC = 50
"""Positives from which the shape of the curve is taken from the data (docs/decisions.md)."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Sigmoids for all labels, and knots of a rising curve for those that have one.

    Label l's knots are `offsets[l]:offsets[l + 1]`; without any, its sigmoid holds.
    """

    slopes: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    offsets: NDArray[np.int64]
    knot_scores: NDArray[np.float64]
    knot_probabilities: NDArray[np.float64]

    @classmethod
    def fit(cls, held_out: HeldOut) -> Self:
        """Fit all labels' curves on held-out scores."""
        groups = ScoreGroups.of(held_out)
        slopes, intercepts = fit_sigmoids(groups)
        nothing = np.zeros(0)
        curves = [
            isotonic_curve(*groups.label(label))
            if groups.positives[label] >= ENOUGH_FOR_ISOTONIC
            else (nothing, nothing)
            for label in range(held_out.n_labels)
        ]
        offsets = np.cumsum([0, *(len(scores) for scores, _ in curves)]).astype(np.int64)
        scores = np.concatenate([nothing, *(scores for scores, _ in curves)])
        return cls(
            slopes, intercepts, offsets, scores, np.concatenate([nothing, *(p for _, p in curves)])
        )

    def probabilities(self, scores: Scores) -> NDArray[np.float32]:
        """The probabilities of a chunk of scores (documents, labels); 0 where there is no score."""
        z = scores * self.slopes + self.intercepts
        result: NDArray[np.float32] = sigmoid(z).astype(np.float32)
        for label in np.flatnonzero(np.diff(self.offsets)):
            result[:, label] = self._curve(int(label), scores[:, label])
        result[scores == -np.inf] = 0
        return result

    def probability(
        self, labels: NDArray[np.integer[Any]], scores: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The probabilities of a few pairs: the same numbers, `scores[i]` being of `labels[i]`."""
        z = scores * self.slopes[labels] + self.intercepts[labels]
        result: NDArray[np.float32] = sigmoid(z).astype(np.float32)
        curved = np.flatnonzero(self.offsets[labels + 1] > self.offsets[labels])
        curved = curved[np.argsort(labels[curved], kind="stable")]
        ends = np.flatnonzero(np.diff(labels[curved])) + 1
        for own in np.split(curved, ends) if len(curved) else ():
            result[own] = self._curve(int(labels[own[0]]), scores[own])
        result[scores == -np.inf] = 0
        return result

    def of_labels(self, labels: NDArray[np.integer[Any]]) -> "Calibration":
        """The curves of some labels, in this order."""
        sizes = np.diff(self.offsets)[labels]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        knots = np.repeat(self.offsets[labels] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Calibration(
            self.slopes[labels],
            self.intercepts[labels],
            offsets,
            self.knot_scores[knots],
            self.knot_probabilities[knots],
        )

    def scores_at(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each label at which it has this probability, strictly between 0 and 1.

        Infinite where the label's curve ends below or above it.
        """
        log_odds = np.log(probabilities) - np.log1p(-probabilities)
        scores: NDArray[np.float64] = (log_odds - self.intercepts) / self.slopes
        for label in np.flatnonzero(np.diff(self.offsets)):
            span = slice(self.offsets[label], self.offsets[label + 1])
            knots = self.knot_probabilities[span], self.knot_scores[span]
            scores[label] = np.interp(probabilities[label], *knots, left=-np.inf, right=np.inf)
        return scores

    def least_scores(self, probability: float) -> NDArray[np.float64]:
        """Of every label the score from which on it has this probability; inf: no score has."""
        log_odds = np.log(probability / (1 - probability))
        least: NDArray[np.float64] = (log_odds - self.intercepts) / self.slopes
        for label in np.flatnonzero(np.diff(self.offsets)):
            span = slice(self.offsets[label], self.offsets[label + 1])
            least[label] = _first_score(
                self.knot_scores[span], self.knot_probabilities[span], probability
            )
        return least

    def curves(self, n_labels: int) -> Curves:
        """The same numbers for kernels, which do not look again whether all places exist."""
        found = Curves(*(np.asarray(getattr(self, name)) for name in self.__slots__))
        n_knots = len(found.knot_scores)
        fits = (
            len(found.slopes) == len(found.intercepts) == len(found.offsets) - 1 == n_labels
            and (found.offsets[0], found.offsets[-1]) == (0, n_knots)
            and bool(np.all(np.diff(found.offsets) >= 0))
            and len(found.knot_probabilities) == n_knots
            and [array.dtype for array in found] == [array.dtype for array in NO_CURVES]
        )
        if not fits:
            raise DamagedArtifactError("the calibration's arrays do not fit the labels")
        return found

    def _curve(self, label: int, scores: Any) -> Any:
        span = slice(self.offsets[label], self.offsets[label + 1])
        return np.interp(scores, self.knot_scores[span], self.knot_probabilities[span])

    def state(self) -> State:
        """Five arrays."""
        return State("calibration", {}, {name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal calibration again."""
        return cls(**state.arrays)


def _first_score(scores: Any, probabilities: Any, wanted: float) -> float:
    """Where a rising curve, level beyond its ends, first reaches a probability."""
    at = int(np.searchsorted(probabilities, wanted))
    if at == 0:
        return -np.inf
    if at == len(scores):
        return np.inf
    low, high = probabilities[at - 1], probabilities[at]
    return float(scores[at - 1] + (wanted - low) / (high - low) * (scores[at] - scores[at - 1]))


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(−z)), without overflow.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    fading = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, fading) / (1.0 + fading)
