"""What a training solved and keeps, as LibMultiLabel (2024, 3.5 and 3.6) counts run time and space.

Run time is compared by the number of two-class problems, space by the bytes of dense weights.
"""

from collections.abc import Sequence
from typing import Any

from app.learners.base import Learner
from app.state import State

BYTES_OF_A_WEIGHT = 8


def problem_size(
    learners: Sequence[Learner], n_features: int, n_labels: int, n_folds: int
) -> dict[str, Any]:
    """`problems` solved, `bytes` that learners keep, and `dense_bytes`: 8nL for n features of all.

    `problems` are those of the fit and of every fold; None where no learner solves any. The checks
    for drift and growth, of some of the labels, are not counted.
    """
    solved = [learner.problems_of_fit(n_labels) for learner in learners]
    problems = [own + n_folds * n_labels for own in solved if own is not None]
    return {
        "problems": sum(problems) if problems else None,
        "bytes": sum(array_bytes(learner.state()) for learner in learners),
        "dense_bytes": BYTES_OF_A_WEIGHT * n_features * n_labels,
    }


def array_bytes(state: State) -> int:
    """The bytes of a state's arrays, those of its parts included."""
    own = sum(array.nbytes for array in state.arrays.values())
    return own + sum(map(array_bytes, state.parts.values()))
