"""A linear problem as what the tasks of a workload share: JSON settings and arrays, and back."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Scores
from app.heldout import HeldOut
from app.learners.linear.block_rows import FoldRows
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


def problem_arrays(problem: LinearProblem, rows: FoldRows) -> dict[str, NDArray[Any]]:
    """The arrays of a problem; documents as the solver reads them, which every worker would
    otherwise have to make of the features."""
    return {**rows.arrays(), **truth_arrays(problem.truth), "costs": problem.costs}


def problem_of(state: State) -> tuple[LinearProblem, FoldRows]:
    """The problem again, without features, and the documents as the solver reads them."""
    settings, arrays = state.settings, state.arrays
    options, n_features = options_of(settings["options"]), settings["n_features"]
    rows, truth = FoldRows.of_arrays(arrays, options.bias, n_features), truth_of(arrays)
    features = csr_array((truth.shape[0], n_features), dtype=np.float32)
    limits = settings["cut"], settings["ratios"]
    return LinearProblem(features, truth, options, arrays["costs"], *limits), rows


def truth_arrays(truth: csc_array) -> dict[str, NDArray[Any]]:
    """The truth by label, of which only the places are kept."""
    return {"true_documents": truth.indices, "true_starts": truth.indptr}


def truth_of(arrays: dict[str, NDArray[Any]]) -> csc_array:
    """The truth again, of as many documents as have rows among the arrays."""
    documents, starts = arrays["true_documents"], arrays["true_starts"]
    shape = (len(arrays["starts"]) - 1, len(starts) - 1)
    return csc_array((np.ones(len(documents), np.bool_), documents, starts), shape=shape)


def feature_arrays(features: Features) -> dict[str, NDArray[Any]]:
    """Features by document."""
    return {"values": features.data, "columns": features.indices, "starts": features.indptr}


def features_of(arrays: dict[str, NDArray[Any]], n_features: int) -> Features:
    """The features again, on the arrays as they are."""
    by_document = (arrays["values"], arrays["columns"], arrays["starts"])
    return csr_array(by_document, shape=(len(arrays["starts"]) - 1, n_features))


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
