"""Trials: held-out scores of a candidate on the shared folds, at every C, and what they are worth.

In a fold each C starts where the one before it ended (linear/cost_trials.py), so that six of them
cost little more than two.
"""

from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.held_out_figures import figures_of
from app.learners.base import Fitting
from app.learners.linear.block_training import FOLD_TOLERANCE
from app.learners.linear.cost_trials import CostTrials
from app.learners.one_vs_rest import OneVsRest
from app.training.members import built
from app.training.recipe import MemberRecipe
from app.training.search.candidates import Candidate
from app.training.search.crossed_cuts import Objective, crossed_counts
from app.training.search.trial_sample import TrialSample


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate at one C, and what it decided rightly and wrongly, fold by fold."""

    name: str
    members: tuple[MemberRecipe, ...]
    counts: NDArray[np.int64]
    """(folds, labels, 3): TP, FP and FN at cuts of the other folds."""
    seconds: float
    """CPU seconds of the trials of this candidate, all values of C together."""
    n_features: int
    scores: NDArray[np.float32] | None = None
    """(documents, labels): held out; kept of each candidate's best C alone."""

    @property
    def title(self) -> str:
        """Its name, with its C."""
        return self.name if self.cost is None else f"{self.name}, C = {self.cost:g}"

    def figures(self) -> dict[str, Any]:
        """What the manifest keeps."""
        told = figures_of(self.counts.sum(axis=0))
        about = {"name": self.title, "features": self.n_features}
        return about | {name: told[name] for name in ("micro_f1", "macro_f1")}

    @property
    def cost(self) -> float | None:
        """Its C, where the search has chosen one."""
        c = self.members[0].settings.get("c")
        return None if c is None or len(self.members) > 1 else float(c)


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
    start = process_time()
    vectorizer, rows = features.of(candidate.member)
    fitting = replace(fitting, held_out_rows=vectorizer.held_out_rows)
    scores = _scores(candidate, sample, rows, fitting)
    truth, parts = sample.marks(), sample.folds.parts
    counts = [crossed_counts(own, truth, parts, objective) for own in scores]
    seconds = process_time() - start
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


def _scores(
    candidate: Candidate, sample: TrialSample, rows: Any, fitting: Fitting
) -> list[NDArray[np.float32]]:
    """(documents, labels) held out, for every C."""
    learner = OneVsRest(**candidate.member.settings)
    problem = learner.problem(rows, sample.truth, n_labels=sample.n_labels)
    tolerance = FOLD_TOLERANCE * problem.options.tolerance
    options = replace(problem.options, tolerance=tolerance)
    grid = [(1.0, 1.0)]
    if candidate.costs:
        options = replace(options, cost=1.0)
        grid = [(cost, cost) for cost in candidate.costs]
    trials = CostTrials(replace(problem, options=options), grid, sample.folds, fitting)
    shape = (len(grid), sample.truth.shape[1], sample.n_documents)
    collected = np.full(shape, -np.inf, np.float32)  # a label's scores side by side
    for labels, scores, _ in trials.held_out_scores(f"try {candidate.name}"):
        collected[:, labels] = scores.transpose(0, 2, 1)
    return [own.T for own in collected]
