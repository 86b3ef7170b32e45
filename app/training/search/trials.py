"""Trials: held-out scores of a candidate on the shared folds, at every C, and what they are worth.

In a fold each C starts where the one before it ended (linear/cost_trials.py), so that six of them
cost little more than two.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.learners.base import CostTrial, Fitting, Learner
from app.learners.out_of_fold.fitting import out_of_fold
from app.training.members import built
from app.training.recipe import MemberRecipe
from app.training.search.candidates import Candidate
from app.training.search.crossed_cuts import Objective, crossed_counts
from app.training.search.trial import Trial
from app.training.search.trial_sample import TrialSample


class SampleFeatures:
    """The rows of the sample by feature settings: candidates that share them share the rows."""

    def __init__(self, sample: TrialSample, fitting: Fitting) -> None:
        self._sample, self._fitting = sample, fitting
        self._last: tuple[Any, Any, Any] | None = None

    def of(self, member: MemberRecipe) -> tuple[Any, Any]:
        """(vectorizer, rows)."""
        if self._last is None or self._last[0] != member.features:
            self._last = None  # before the next ones are made
            vectorizer, _ = built(member)
            rows = vectorizer.fit_transform(self._sample.documents, jobs=self._fitting.jobs)
            self._last = (member.features, vectorizer, rows)
        return self._last[1:]


def trials_of(
    candidate: Candidate,
    sample: TrialSample,
    features: SampleFeatures,
    *,
    objective: Objective,
    fitting: Fitting,
) -> list[Trial]:
    """One trial for each C of the candidate."""
    start = fitting.cpu_seconds()
    vectorizer, rows = features.of(candidate.member)
    fitting = replace(fitting, held_out_rows=vectorizer.held_out_rows)
    _, learner = built(candidate.member)
    what = CostTrial(candidate.costs, sample.n_labels, f"try {candidate.name}")
    scores = learner.held_out_at_costs(rows, sample.truth, sample.folds, what, fitting)
    if scores is None:
        candidate = replace(candidate, costs=())
        scores = [_by_folds(learner, rows, sample, fitting)]
    else:
        scores = [own[sample.folds.scored()] for own in scores]
    truth, parts = sample.scored_marks(), sample.scored_parts()
    counts = [crossed_counts(own, truth, parts, objective) for own in scores]
    seconds = fitting.cpu_seconds() - start
    values = [objective.value(own.sum(axis=0)) for own in counts]
    best = int(np.argmax(values))
    return [
        Trial(
            candidate.name,
            (member,),
            own,
            seconds,
            rows.shape[1],
            scores[i] if i == best else None,
        )
        for i, (member, own) in enumerate(zip(_members(candidate), counts, strict=True))
    ]


def _members(candidate: Candidate) -> list[MemberRecipe]:
    member = candidate.member
    if not candidate.costs:
        return [member]
    return [replace(member, settings={**member.settings, "c": c}) for c in candidate.costs]


def _by_folds(
    learner: Learner, rows: Any, sample: TrialSample, fitting: Fitting
) -> NDArray[np.float32]:
    """Held-out scores of a learner that has no short cut: fitted once a fold."""
    held_out = out_of_fold(lambda: deepcopy(learner), rows, sample.truth, sample.folds, fitting)
    return held_out.block(np.arange(held_out.n_documents), np.arange(held_out.n_labels))
