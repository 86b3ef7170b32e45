"""A training after a tuning: the best recipe of a budget trained, and what was tried on files."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.errors import InvalidRequestError
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.progress import Progress, silent
from app.training.recipe import Recipe
from app.training.search.search import Searched, mean_words, why_not
from app.training.search.training import trained_after
from app.training.train import Trained, TrainingJob
from app.training.tuning.halving import Tuning, tuned
from app.training.tuning.recipe_toml import recipe_toml
from app.training.tuning.trial_report import trial_rows, trials_page
from app.training.tuning.tuning_space import default_space, read_space


@dataclass(frozen=True, slots=True)
class TuningFiles:
    """The folder of a tuning, and whether finished trials in it are taken up."""

    folder: Path
    resume: bool = False

    def trials(self, job: TrainingJob) -> Path:
        """Where trials of this very tuning are kept; emptied unless they are to be taken up."""
        found = job.data.summary
        what = repr((found.sha256, len(job.data), job.recipe.as_dict(), job.seed))
        folder = self.folder / f"trials-{sha256(what.encode()).hexdigest()[:12]}"
        if not self.resume:
            shutil.rmtree(folder, ignore_errors=True)
        return folder

    def write(self, name: str, searched: Searched) -> None:
        """The table of trials and the recipe."""
        self.folder.mkdir(parents=True, exist_ok=True)
        table = {**searched.figures, "trials": trial_rows(searched)}
        text = json.dumps(table, ensure_ascii=False, indent=2) + "\n"
        (self.folder / "trials.json").write_text(text, encoding="utf-8")
        (self.folder / "trials.html").write_text(trials_page(name, searched), encoding="utf-8")
        (self.folder / "recipe.toml").write_text(recipe_toml(searched.recipe), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Tuned:
    """The trained model, all trials, and what the plain default reached on the last folds."""

    trained: Trained
    trials: list[dict[str, Any]]
    default: dict[str, float]


def tuned_training(
    job: TrainingJob,
    budget: float,
    *,
    files: TuningFiles,
    space: Path | None = None,
    learners: Sequence[str] = (),
    progress: Progress = silent,
) -> Tuned:
    """The model of the best recipe that the budget (CPU seconds) finds."""
    results: list[Searched] = []

    def search(recipe: Recipe, job: TrainingJob, fitting: Fitting) -> Searched:
        truth = LabelIndex.of(job.data.label_sets).truth(job.data.label_sets)
        if reason := why_not(recipe, truth):
            raise InvalidRequestError(f"nothing to tune: {reason}")
        words = mean_words(job.data.documents)
        usual = default_space(recipe, mean_words=words, learners=learners)
        tried = [usual[0], *read_space(space)] if space else usual
        tuning = Tuning(tried, budget, files.trials(job))
        found = tuned(recipe, job.data, truth, tuning=tuning, fitting=fitting)
        files.write(job.data.summary.sha256[:12], found)
        results.append(found)
        return found

    trained = trained_after(search, replace(job), progress)
    return Tuned(trained, trial_rows(results[0]), _default(results[0]))


def _default(searched: Searched) -> dict[str, float]:
    """The figures of the first candidate at C = 1 on the last rung's folds."""
    first = searched.all_trials[0][0].name
    for trial in searched.all_trials[-1]:
        if trial.name == first and trial.cost == 1.0:
            told = trial.figures()
            return {name: told[name] for name in ("micro_f1", "macro_f1")}
    return {}
