"""Trains one weight vector per label with LIBLINEAR, in worker processes, whatever their number."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from app.arrays import Features, Truth
from app.learners.base import Fitting
from app.learners.label_weights import LabelWeights
from app.learners.liblinear import Problem
from app.learners.linear_options import LinearOptions, with_positive_cost

CHUNK = 16
"""Labels a task: enough to outweigh sending it, few enough to show progress."""

_problems: dict[str, Problem] = {}


def train_labels(
    features: Features,
    truth: Truth,
    options: LinearOptions,
    *,
    costs: NDArray[np.float64] | None,
    fitting: Fitting,
) -> LabelWeights:
    """Weights and bias of every label, the same for any number of jobs."""
    columns = csc_array(truth)
    n_documents, n_labels = truth.shape
    counts = np.diff(columns.indptr)
    bias = constant_scores(counts, n_documents, options)
    trained = np.flatnonzero((counts > 0) & (counts < n_documents))
    chunks = [trained[i : i + CHUNK] for i in range(0, len(trained), CHUNK)]
    problem = (uuid4().hex, features, options.bias)
    tasks = (
        delayed(_train_chunk)(
            problem, columns[:, chunk], options, _pick(costs, chunk), fitting.seed
        )
        for chunk in chunks
    )
    parts, done = [], 0
    for chunk, weights in zip(chunks, _results(tasks, fitting.jobs), strict=True):
        if options.bias is not None:
            bias[chunk] = weights[-1] * options.bias
            weights = weights[:-1]
        found = coo_array(weights)
        parts.append((found.coords[0], chunk[found.coords[1]], found.data.astype(np.float32)))
        done += len(chunk)
        fitting.progress("train", done, len(trained))
    return LabelWeights.of(_assembled(parts, (features.shape[1], n_labels)), bias)


def constant_scores(
    counts: NDArray[Any], n_documents: int, options: LinearOptions
) -> NDArray[np.float32]:
    """The score of a label that is positive nowhere or everywhere: the margin, or the odds."""
    size = np.log(2 * n_documents + 1) if options.is_logistic else 1.0
    return np.where(counts > 0, size, -size).astype(np.float32)


def _results(tasks: Iterator[Any], jobs: int) -> Iterator[NDArray[np.float64]]:
    if jobs == 1:
        return (function(*args, **named) for function, args, named in tasks)
    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator")
    results: Iterator[NDArray[np.float64]] = parallel(tasks)
    return results


def _train_chunk(
    problem: tuple[str, Features, float | None],
    truth: csc_array,
    options: LinearOptions,
    costs: NDArray[np.float64],
    seed: int,
) -> NDArray[np.float64]:
    """Weights (features and bias, labels) of a few labels; a worker builds the problem once."""
    built = _problem(*problem)
    columns = []
    for label, cost in enumerate(costs):
        marks = np.full(truth.shape[0], -1.0)
        marks[truth.indices[truth.indptr[label] : truth.indptr[label + 1]]] = 1.0
        weights, _ = built.train(marks, with_positive_cost(options, cost), seed=seed)
        columns.append(weights[:, 0])
    return np.stack(columns, axis=1)


def _problem(name: str, features: Features, bias: float | None) -> Problem:
    if name not in _problems:
        _problems.clear()
        _problems[name] = Problem(features, bias)
    return _problems[name]


def _pick(costs: NDArray[np.float64] | None, chunk: NDArray[Any]) -> NDArray[np.float64]:
    return np.ones(len(chunk)) if costs is None else costs[chunk]


def _assembled(parts: list[Any], shape: tuple[int, int]) -> csr_array:
    if not parts:
        return csr_array(shape, dtype=np.float32)
    rows, columns, values = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    weights = csr_array((values, (rows, columns)), shape=shape)
    weights.sort_indices()
    return weights
