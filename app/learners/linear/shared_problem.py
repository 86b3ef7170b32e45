"""A linear problem as what the tasks of a workload share: JSON settings and arrays, and back."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Scores
from app.heldout import HeldOut
from app.learners.linear.options import LinearOptions
from app.learners.linear.problem import LinearProblem
from app.state import State


def problem_settings(problem: LinearProblem) -> dict[str, Any]:
    """The numbers of a problem."""
    return {
        "options": options_settings(problem.options),
        "n_features": problem.features.shape[1],
        "cut": float(problem.cut),
        "ratios": float(problem.ratios),
    }


def problem_arrays(problem: LinearProblem) -> dict[str, NDArray[Any]]:
    """The arrays of a problem."""
    documents = matrix_arrays(problem.features, problem.truth)
    return {**documents, "costs": problem.costs}


def problem_of(state: State) -> LinearProblem:
    """The problem again."""
    settings, (features, truth) = state.settings, matrices_of(state)
    options = options_of(settings["options"])
    costs = state.arrays["costs"]
    return LinearProblem(features, truth, options, costs, settings["cut"], settings["ratios"])


def matrix_arrays(features: Features, truth: csc_array) -> dict[str, NDArray[Any]]:
    """Features by document, and the truth by label, of which only the places are kept."""
    return {
        "values": features.data,
        "columns": features.indices,
        "starts": features.indptr,
        "true_documents": truth.indices,
        "true_starts": truth.indptr,
    }


def matrices_of(state: State) -> tuple[Features, csc_array]:
    """Features and truth again, on the arrays as they are."""
    arrays = state.arrays
    n_documents, n_labels = len(arrays["starts"]) - 1, len(arrays["true_starts"]) - 1
    by_document = (arrays["values"], arrays["columns"], arrays["starts"])
    marks = np.ones(len(arrays["true_documents"]), np.bool_)
    by_label = (marks, arrays["true_documents"], arrays["true_starts"])
    return (
        csr_array(by_document, shape=(n_documents, state.settings["n_features"])),
        csc_array(by_label, shape=(n_documents, n_labels)),
    )


def options_settings(options: LinearOptions) -> dict[str, Any]:
    """Options as JSON has them, where keys are texts."""
    costs = {str(label): cost for label, cost in options.class_costs.items()}
    return {**asdict(options), "class_costs": costs}


def options_of(settings: dict[str, Any]) -> LinearOptions:
    """The options again."""
    costs = {int(label): cost for label, cost in settings["class_costs"].items()}
    return LinearOptions(**{**settings, "class_costs": costs})


class NoScores:
    """Where a worker collects held-out scores: nowhere, since its tasks give them away."""

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Keep nothing."""

    def held_out(self) -> HeldOut:
        """Never asked for: whoever sent the tasks has the scores."""
        raise RuntimeError("held-out scores are with the driver, not with its workers")
