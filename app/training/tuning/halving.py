"""Successive halving: all candidates on a little data, the better ones on more, the best on most.

Every rung has three times the data of the one before and a third of its candidates. The last
rung's folds choose; where the budget ends before it, those of the last rung that was begun.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.arrays import Truth
from app.datasets.collection import Collection
from app.learners.base import Fitting
from app.training.fold_plan import fold_plan
from app.training.recipe import Recipe
from app.training.search.candidates import Candidate, beside
from app.training.search.choice import choice
from app.training.search.crossed_cuts import Objective
from app.training.search.greedy import with_ensembles
from app.training.search.objectives import objective_of
from app.training.search.qualities import QUALITIES
from app.training.search.search import Searched, found, mean_words
from app.training.search.trial import Trial
from app.training.search.trial_sample import TrialSample, trial_sample
from app.training.search.trials import SampleFeatures, trials_of
from app.training.tuning.trial_files import TrialFiles

RUNGS, FEWER = 3, 3
FEWEST = 3
"""Candidates that go on to the next rung at least."""
FOR_TRIALS = 0.7
"""The share of the budget that trials may take; the rest is for the training of the winner."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What to try, for how many CPU seconds, and where finished trials are kept."""

    space: Sequence[Candidate]
    budget: float
    folder: Path | None = None


@dataclass(slots=True)
class _Rung:
    """The trials of one rung so far, and whether it was cut short."""

    sample: TrialSample
    trials: list[Trial] = field(default_factory=list)
    is_whole: bool = True


def tuned(
    recipe: Recipe, data: Collection, truth: Truth, *, tuning: Tuning, fitting: Fitting
) -> Searched:
    """The best recipe that was found in the budget, or until an interrupt."""
    return _Halving(recipe, data, truth, tuning, fitting).searched()


class _Halving:
    def __init__(
        self, recipe: Recipe, data: Collection, truth: Truth, tuning: Tuning, fitting: Fitting
    ) -> None:
        self.recipe, self.documents, self.truth = recipe, data.documents, truth
        self.plan = fold_plan(recipe, data)
        self.tuning, self.fitting = tuning, fitting
        self.files = TrialFiles(tuning.folder)
        self.objective: Objective = objective_of(recipe.decision.name)
        self.words, self.start = mean_words(data.documents), fitting.cpu_seconds()

    def searched(self) -> Searched:
        """Rung after rung; each starts with the candidates in the order of their success."""
        left, rungs = list(self.tuning.space), list[_Rung]()
        for number in range(RUNGS):
            rung = self._rung(number, left, is_first=not rungs)
            if rung.trials:
                rungs.append(rung)
            if not rung.is_whole or not rung.trials:
                break
            left = self._better(rung.trials, left)
        last = rungs[-1]
        trials = last.trials
        if self._has_time() and last.is_whole:
            trials = with_ensembles(trials, last.sample, self.objective)
        name = f"tuned, rung {len(rungs)} of {RUNGS}"
        result = found(self.recipe, trials, self.objective, last.sample, name)
        return replace(result, all_trials=[own.trials for own in rungs[:-1]] + [trials])

    def _rung(self, number: int, left: Sequence[Candidate], *, is_first: bool) -> _Rung:
        work = QUALITIES["best"].most_work / FEWER ** (RUNGS - 1 - number)
        sample = trial_sample(
            self.documents,
            self.truth,
            self.plan,
            words=self.words,
            most_work=work,
            seed=self.fitting.seed,
        )
        rung, features = _Rung(sample), SampleFeatures(sample, self.fitting)
        try:
            for done, candidate in enumerate(left):
                if not self._has_time() and (done or not is_first):
                    rung.is_whole = False
                    break
                self._tell(number, done, len(left), rung.trials)
                rung.trials += self._tried(number, candidate, sample, features)
        except KeyboardInterrupt:
            if is_first and not rung.trials:
                raise  # there is nothing to keep
            rung.is_whole, self.start = False, float("-inf")
        return rung

    def _tried(
        self, number: int, candidate: Candidate, sample: TrialSample, features: SampleFeatures
    ) -> list[Trial]:
        known = self.files.load(number, candidate)
        if known is None:
            known = trials_of(
                candidate, sample, features, objective=self.objective, fitting=self.fitting
            )
            self.files.save(number, candidate, known)
        return known

    def _tell(self, number: int, done: int, total: int, trials: Sequence[Trial]) -> None:
        """The best so far, beside how far this rung is."""
        news = ""
        if trials:
            best = choice(trials, self.objective)
            news = f" · {best.value:.4f}: {best.trial.title}"
        self.fitting.progress(f"rung {number + 1}{news}", done, total)

    def _has_time(self) -> bool:
        return self.fitting.cpu_seconds() - self.start < FOR_TRIALS * self.tuning.budget

    def _better(self, trials: Sequence[Trial], left: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that go on, the best first, each beside its best C; the first always."""
        by_name = {candidate.name: candidate for candidate in left}
        values = {name: self._best(trials, name) for name in by_name}
        order = sorted(by_name, key=lambda name: -values[name][0])
        kept = order[: max(FEWEST, len(order) // FEWER)]
        further = [beside(by_name[name], values[name][1]) for name in kept]
        return [*further, self._default()]

    def _default(self) -> Candidate:
        """The first candidate at C = 1, to stand beside the best."""
        first = self.tuning.space[0]
        return replace(first, costs=(1.0,) if first.costs else ())

    def _best(self, trials: Sequence[Trial], name: str) -> tuple[float, float | None]:
        own = [trial for trial in trials if trial.name == name]
        best = choice(own, self.objective)
        return best.value, best.trial.cost
