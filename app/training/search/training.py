"""A training whose recipe is searched first: what the commands and the library call."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from app.learners.base import Fitting
from app.progress import Progress, silent
from app.training.recipe import Recipe
from app.training.search.qualities import FAST, quality_of
from app.training.search.search import Searched, searched
from app.training.train import Trained, TrainingJob, check, train

Search = Callable[[Recipe, TrainingJob, Fitting], Searched]


def searched_training(
    job: TrainingJob, quality: str = FAST, progress: Progress = silent
) -> Trained:
    """The model of the recipe that this quality fills in; the same for any number of `jobs`."""
    found = quality_of(quality)
    if found is None:
        return train(job, progress)

    def search(recipe: Recipe, job: TrainingJob, fitting: Fitting) -> Searched:
        return searched(recipe, job.data, quality=found, fitting=fitting)

    return trained_after(search, job, progress)


def trained_after(search: Search, job: TrainingJob, progress: Progress = silent) -> Trained:
    """The model of the recipe that a search finds; its manifest says what was tried."""
    recipe = job.recipe.for_ready_made() if job.data.is_ready_made else job.recipe
    job = replace(job, recipe=recipe.completed())
    check(job)
    start = perf_counter()
    fitting = Fitting(job.jobs, job.seed, job.device, progress, engine=job.engine)
    result = search(job.recipe, job, fitting)
    seconds = perf_counter() - start
    trained = train(replace(job, recipe=result.recipe), progress)
    figures = trained.info.figures | result.told(trained.info.figures)
    timings = {"search": seconds, **trained.info.timings}
    return replace(trained, info=replace(trained.info, figures=figures, timings=timings))
