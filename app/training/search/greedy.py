"""Greedy ensembles: candidates added up one by one, as long as held-out documents gain by it.

Scores of all members are brought to one scale (log-odds, by the slope that calibrates them over all
labels) and count alike; training chooses the weights anew (training/ensemble.py).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.decisions.calibration.score_groups import ScoreGroups
from app.decisions.calibration.sigmoids import pooled_slope
from app.heldout import HeldOut
from app.training.search.crossed_cuts import Objective, crossed_counts
from app.training.search.trial import Trial
from app.training.search.trial_sample import TrialSample

LEAST_GAIN = 0.002
"""What another member must bring: it costs as much to train, keep and serve as the first."""
MOST_MEMBERS = 3


def with_ensembles(trials: list[Trial], sample: TrialSample, objective: Objective) -> list[Trial]:
    """The trials, and behind them every ensemble that was better than the one before it."""
    single = [trial for trial in trials if trial.scores is not None]
    log_odds = [_log_odds(trial, sample) for trial in single]
    values = [objective.value(trial.counts.sum(axis=0)) for trial in single]
    chosen, best, added = [int(np.argmax(values))], max(values), list[Trial]()
    while len(chosen) < min(MOST_MEMBERS, len(single)):
        tried = [
            (
                _ensemble(
                    [single[j] for j in (*chosen, i)], log_odds, (*chosen, i), sample, objective
                ),
                i,
            )
            for i in range(len(single))
            if i not in chosen
        ]
        worth = [objective.value(trial.counts.sum(axis=0)) for trial, _ in tried]
        place = int(np.argmax(worth))
        if worth[place] < best + LEAST_GAIN:
            break
        best = worth[place]
        chosen.append(tried[place][1])
        added.append(tried[place][0])
    return [*trials, *added]


def _ensemble(
    members: Sequence[Trial],
    log_odds: Sequence[NDArray[np.float32]],
    which: Sequence[int],
    sample: TrialSample,
    objective: Objective,
) -> Trial:
    scores = np.asarray(np.mean([log_odds[i] for i in which], axis=0, dtype=np.float32))
    counts = crossed_counts(scores, sample.scored_marks(), sample.scored_parts(), objective)
    return replace(
        members[0],
        name=" + ".join(f"({own.title})" for own in members),
        members=tuple(member for own in members for member in own.members),
        counts=counts,
        seconds=sum(own.seconds for own in members),
        n_features=sum(own.n_features for own in members),
        scores=None,
    )


def _log_odds(trial: Trial, sample: TrialSample) -> NDArray[np.float32]:
    held_out = HeldOut.of(trial.scores, sample.scored_truth())
    scaled: NDArray[np.float32] = held_out.scores * np.float32(
        pooled_slope(ScoreGroups.of(held_out))
    )
    return scaled
