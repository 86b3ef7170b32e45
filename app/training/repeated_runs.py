"""Repeated runs: random training and test parts of one data set, each trained and judged anew."""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

from app.datasets.collection import split
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.headline_figures import headline_figures
from app.evaluation.run import evaluate
from app.progress import Progress, silent
from app.training.publish import documents_of
from app.training.run_results import RunResult
from app.training.search.qualities import FAST
from app.training.search.training import searched_training
from app.training.train import TrainingJob


def repeated_runs(
    job: TrainingJob,
    n_runs: int,
    share: float,
    progress: Progress = silent,
    *,
    quality: str = FAST,
) -> Iterator[RunResult]:
    """One result a run, as it ends; run r splits, trains and tunes with the job's seed + r.

    `share` of the documents are trained on, the others are judged. Nothing is written anywhere, and
    one model at a time is in memory.
    """
    for number in range(n_runs):
        progress("run", number, n_runs)
        yield _run(replace(job, seed=job.seed + number), share, quality, progress)
    progress("run", n_runs, n_runs)


def _run(job: TrainingJob, share: float, quality: str, progress: Progress) -> RunResult:
    start = perf_counter()
    kept, aside = split(job.data, 1 - share, job.seed)
    job = replace(job, data=kept, keeps_fingerprints=False)
    trained = searched_training(job, quality, progress)
    info = JudgedModel(training_counts=trained.info.training_counts, n_training_documents=len(kept))
    options = EvaluationOptions(costs=job.costs, jobs=job.jobs, check_seen=False)
    report = evaluate(
        trained.classifier, documents_of(aside), options, info=info, progress=progress
    ).as_dict()
    n_labels, seconds = len(trained.classifier.labels), perf_counter() - start
    return RunResult(job.seed, len(kept), len(aside), n_labels, headline_figures(report), seconds)
