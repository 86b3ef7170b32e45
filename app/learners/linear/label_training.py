"""Trains label after label with LIBLINEAR, in worker processes, the same for any number of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from app.arrays import Features
from app.learners.base import Fitting
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.options import LinearOptions, with_positive_cost
from app.learners.linear.problem import LinearProblem, SolvedLabels

if TYPE_CHECKING:  # LIBLINEAR's own package imports a compiler: a server of ready weights does not
    from app.learners.linear.liblinear import LiblinearProblem

LABELS_A_TASK = 16
"""Enough to outweigh sending a task, few enough to show progress."""

_problems: "dict[str, LiblinearProblem]" = {}


def train_labels(problem: LinearProblem, fitting: Fitting) -> LabelWeights:
    """Weights and bias of every label."""
    return problem.combined(solved_labels(problem, fitting))


def solved_labels(problem: LinearProblem, fitting: Fitting) -> Iterator[SolvedLabels]:
    """The weights of a few labels at a time."""
    labels, options = problem.learnable(), problem.options
    chunks = [labels[i : i + LABELS_A_TASK] for i in range(0, len(labels), LABELS_A_TASK)]
    documents = (uuid4().hex, problem.features, options.bias)
    tasks = (
        (documents, problem.truth[:, chunk], options, problem.costs[chunk], fitting.seed)
        for chunk in chunks
    )
    done = 0
    for chunk, weights in zip(chunks, _results(tasks, fitting.jobs), strict=True):
        done += len(chunk)
        fitting.progress("train", done, len(labels))
        yield _solved(chunk, weights, options.bias, problem.cut)
    _problems.clear()


def _results(tasks: Iterator[Any], jobs: int) -> Iterator[NDArray[np.float64]]:
    if jobs == 1:
        return (_train(*task) for task in tasks)
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator")
    results: Iterator[NDArray[np.float64]] = parallel(delayed(_train)(*task) for task in tasks)
    return results


def _train(
    documents: tuple[str, Features, float | None],
    truth: csc_array,
    options: LinearOptions,
    costs: NDArray[np.float64],
    seed: int,
) -> NDArray[np.float64]:
    """Weights (features and bias, labels) of a few labels; a worker builds the problem once."""
    problem = _problem(*documents)
    columns = []
    for label, cost in enumerate(costs):
        marks = np.full(truth.shape[0], -1.0)
        marks[truth.indices[truth.indptr[label] : truth.indptr[label + 1]]] = 1.0
        weights, _ = problem.train(marks, with_positive_cost(options, cost), seed=seed)
        columns.append(weights[:, 0])
    return np.stack(columns, axis=1)


def _problem(name: str, features: Features, bias: float | None) -> "LiblinearProblem":
    from app.learners.linear.liblinear import LiblinearProblem

    if name not in _problems:
        _problems.clear()
        _problems[name] = LiblinearProblem(features, bias)
    return _problems[name]


def _solved(
    labels: NDArray[Any], weights: NDArray[np.float64], bias: float | None, cut: float
) -> SolvedLabels:
    constants = np.zeros(len(labels), np.float32)
    if bias is not None:
        constants = (weights[-1] * bias).astype(np.float32)
        weights = weights[:-1]
    features, columns = np.nonzero(np.abs(weights) > cut)
    values = weights[features, columns].astype(np.float32)
    return SolvedLabels(
        labels, constants, (features.astype(np.int32), labels[columns].astype(np.int32), values)
    )
