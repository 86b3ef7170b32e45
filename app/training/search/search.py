"""Search: the recipe that held-out documents choose among variations of the given one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.arrays import Truth
from app.datasets.collection import Collection
from app.kernels import compiled
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.fold_plan import fold_plan
from app.training.recipe import Recipe
from app.training.search.candidates import Candidate, beside, candidates, why_none
from app.training.search.choice import Winner, choice
from app.training.search.crossed_cuts import Objective
from app.training.search.greedy import with_ensembles
from app.training.search.objectives import objective_of
from app.training.search.qualities import FEWEST_DOCUMENTS, MOST_LABELS, Quality
from app.training.search.trial import Trial
from app.training.search.trial_sample import FOLDS, TrialSample, trial_sample
from app.training.search.trials import SampleFeatures, trials_of

COUNTED = 2000
"""Texts whose words are counted."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The recipe to train, and what the manifest says of how it was found."""

    recipe: Recipe
    figures: dict[str, Any] = field(default_factory=dict)
    optimism: float = 0.0
    """What the winner's figure owes to having been chosen."""
    promised: tuple[str, ...] = ()
    """The figures that were searched for."""
    all_trials: Sequence[Sequence[Trial]] = ()
    """Rung by rung, where there was more than one."""

    def told(self, figures: Mapping[str, Any]) -> dict[str, Any]:
        """What the manifest says of the search, with the trained model's promise beside it."""
        if not self.figures:
            return {}
        reached = figures.get("held_out", {})
        promise = {name: reached[name] - self.optimism for name in self.promised if reached}
        return {"search": self.figures | ({"promise": promise} if promise else {})}


def searched(recipe: Recipe, data: Collection, *, quality: Quality, fitting: Fitting) -> Searched:
    """The recipe with what trials on shared folds filled in; as it is where nothing is tried."""
    documents, truth = data.documents, LabelIndex.of(data.label_sets).truth(data.label_sets)
    if reason := why_not(recipe, truth):
        return Searched(recipe, {"quality": quality.name, "not_searched": reason})
    words = mean_words(documents)
    sample = trial_sample(
        documents,
        truth,
        fold_plan(recipe, data),
        words=words,
        most_work=quality.most_work,
        seed=fitting.seed,
    )
    open_candidates = candidates(recipe.members[0], mean_words=words, has_union=quality.has_union)
    objective = objective_of(recipe.decision.name)
    trials = _trials(open_candidates, sample, objective, fitting)
    if quality.has_ensembles:
        trials = with_ensembles(trials, sample, objective)
    return found(recipe, trials, objective, sample, quality.name)


def found(
    recipe: Recipe,
    trials: Sequence[Trial],
    objective: Objective,
    sample: TrialSample,
    quality: str,
) -> Searched:
    """The winner of the trials, as a recipe, with what is told of it."""
    chosen = choice(trials, objective)
    figures = {
        "quality": quality,
        "sample": sample.figures() | {"folds": FOLDS, "whole": sample.is_whole},
        "trials": [trial.figures() for trial in trials],
        "winner": chosen.trial.figures(),
        **choice_figures(chosen),
    }
    winner = replace(recipe, members=chosen.trial.members)
    return Searched(winner, figures, chosen.optimism, objective.figures, [trials])


def choice_figures(chosen: Winner) -> dict[str, float]:
    """The winner's figure on the folds, and what is left of it without the luck of the choice."""
    return {"value": chosen.value, "corrected": chosen.corrected, "optimism": chosen.optimism}


def why_not(recipe: Recipe, truth: Truth) -> str:
    """Why there is no search; empty where there is one."""
    if len(recipe.members) > 1:
        return "the recipe is an ensemble"
    if recipe.decision.name == "zero":
        return "decision zero is the untuned reference"
    if not compiled():
        return "kernels are not compiled here"
    if truth.shape[0] < FEWEST_DOCUMENTS:
        return f"fewer than {FEWEST_DOCUMENTS} documents"
    if truth.shape[1] > MOST_LABELS:
        return f"more than {MOST_LABELS:,} labels"
    return why_none(recipe.members[0])


def mean_words(documents: Any) -> float:
    """Words of an average text, or stored numbers of an average row."""
    if not isinstance(documents, Sequence):
        return float(documents.nnz / max(documents.shape[0], 1))
    some = documents[:: max(1, len(documents) // COUNTED)]
    return float(np.mean([len(text.split()) for text in some]))


def _trials(
    open_candidates: Sequence[Candidate],
    sample: TrialSample,
    objective: Objective,
    fitting: Fitting,
) -> list[Trial]:
    """The first candidate at every C; the others beside the C that was best for it."""
    features, trials = SampleFeatures(sample, fitting), list[Trial]()
    best: float | None = None
    for candidate in open_candidates:
        tried = trials_of(
            beside(candidate, best), sample, features, objective=objective, fitting=fitting
        )
        if not trials:
            best = choice(tried, objective).trial.cost
        trials += tried
    return trials
