"""The points of a learning curve: models of nested parts of the data, judged on documents aside."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from app.datasets.collection import Collection, split, subset
from app.errors import InvalidDataError
from app.evaluation.options import EvaluationOptions
from app.evaluation.report.headline_figures import headline_figures
from app.evaluation.run import evaluate
from app.progress import Progress, silent
from app.training.learning_curve.outcomes import FIGURES, LabelOutcome, LearningPoint
from app.training.publish import documents_of
from app.training.train import TrainingJob, train

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
"""Of the documents that are not kept aside."""
LEAST_DOCUMENTS = 50
LEAST_SIZES = 3


def curve(
    job: TrainingJob, repeats: int, aside: float, progress: Progress = silent
) -> Iterator[list[LearningPoint]]:
    """The points of one repeat after the other, from small to large.

    Repeat r keeps `aside` of the documents apart by the job's seed + r; smaller parts of the others
    lie within larger ones.
    """
    sizes = curve_sizes(round((1 - aside) * len(job.data)))
    for number in range(repeats):
        seed = job.seed + number
        kept, test = split(job.data, aside, seed)
        order = np.random.default_rng([seed, 1]).permutation(len(kept))
        points = []
        for done, size in enumerate(sizes):
            progress("learning curve", number * len(sizes) + done, repeats * len(sizes))
            part = subset(kept, np.sort(order[:size]))
            points.append(_point(replace(job, data=part, seed=seed), test, progress))
        yield points
    progress("learning curve", repeats * len(sizes), repeats * len(sizes))


def curve_sizes(n_documents: int) -> list[int]:
    """How many documents each point has, rising; too few documents are refused."""
    sizes = [round(share * n_documents) for share in SHARES]
    sizes = [size for size in sizes if size >= LEAST_DOCUMENTS]
    if len(sizes) < LEAST_SIZES:
        least = round(LEAST_DOCUMENTS / SHARES[-LEAST_SIZES])
        raise InvalidDataError(
            f"a learning curve takes at least {least} documents beside those kept aside; there "
            f"are {n_documents}"
        )
    return sizes


def _point(job: TrainingJob, test: Collection, progress: Progress) -> LearningPoint:
    trained = train(replace(job, keeps_fingerprints=False), progress)
    options = EvaluationOptions(jobs=job.jobs, check_seen=False, include_test_labels=True)
    found = evaluate(trained.classifier, documents_of(test), options).as_dict()
    headline = headline_figures(found)
    return LearningPoint(
        job.seed,
        len(job.data),
        len(test),
        {name: float(headline[key] or 0.0) for name, key in FIGURES.items()},
        _label_counts(job.data, found["labels"]),
    )


def _label_counts(data: Collection, labels: list[dict[str, Any]]) -> dict[str, LabelOutcome]:
    examples: dict[str, int] = {}
    for names in data.label_sets:
        for name in names:
            examples[name] = examples.get(name, 0) + 1
    return {
        own["label"]: LabelOutcome(examples.get(own["label"], 0), own["tp"], own["fp"], own["fn"])
        for own in labels
    }
