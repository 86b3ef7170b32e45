"""A learning curve as a result: its points, what more documents give, and labels that need them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.training.learning_curve.extrapolation import Point, extrapolate, points_of
from app.training.learning_curve.label_needs import label_needs
from app.training.learning_curve.outcomes import FIGURES, LearningPoint

LEAST_POINTS = 3
"""Of a curve that is gone on with."""


def curve_summary(repeats: Sequence[list[LearningPoint]], target: int) -> dict[str, Any]:
    """What `--json` writes: points, the figures at `target` documents, and every label."""
    sizes = [point.documents for point in repeats[0]]
    needs = label_needs([points[-2] for points in repeats], [points[-1] for points in repeats])
    return {
        "repeats": len(repeats),
        "test_documents": repeats[0][0].test_documents,
        "sizes": sizes,
        "figures": {name: _figure(name, repeats, sizes, target) for name in FIGURES},
        "labels": [asdict(need) | {"gain": need.gain} for need in needs],
    }


def _figure(
    name: str, repeats: Sequence[list[LearningPoint]], sizes: list[int], target: int
) -> dict[str, Any]:
    """One figure: its points, what is expected, and how the last point would have been foretold."""
    values = _values(name, repeats)
    points = points_of(sizes, values)
    return {
        "points": [
            point._asdict() | {"repeats": own}
            for point, own in zip(points, values.T.tolist(), strict=True)
        ],
        "expected": extrapolate(points, target)._asdict(),
        "check": _check(points, values),
    }


def _values(name: str, repeats: Sequence[list[LearningPoint]]) -> NDArray[np.float64]:
    return np.array([[point.figures[name] for point in points] for points in repeats])


def _check(points: list[Point], values: NDArray[np.float64]) -> dict[str, Any] | None:
    """The last point as the points before it foretell it; None where these are too few."""
    if len(points) <= LEAST_POINTS:
        return None
    known = points_of([int(point.documents) for point in points[:-1]], values[:, :-1])
    foretold = extrapolate(known, int(points[-1].documents))
    found = points[-1].value
    return foretold._asdict() | {"found": found, "holds": foretold.low <= found <= foretold.high}
