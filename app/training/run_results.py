"""What repeated runs found: each by itself, and the spread of every figure over them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import Any


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run found; the model itself is not kept."""

    seed: int
    """Of the split and the training: `labelserve train --test SHARE --seed SEED` gives it again."""
    training_documents: int
    test_documents: int
    labels: int
    """Labels of the training part."""
    figures: dict[str, float | None]
    seconds: float


def spread(values: Sequence[float | None]) -> dict[str, float | int | None]:
    """Mean, sample standard deviation (n − 1), least and greatest of the values that are defined.

    >>> spread([0.5, None, 1.0])
    {'mean': 0.75, 'sd': 0.3535533905932738, 'min': 0.5, 'max': 1.0, 'runs': 2}
    """
    found = [value for value in values if value is not None]
    return {
        "mean": mean(found) if found else None,
        "sd": stdev(found) if len(found) > 1 else None,
        "min": min(found, default=None),
        "max": max(found, default=None),
        "runs": len(found),
    }


def runs_summary(runs: Sequence[RunResult]) -> dict[str, Any]:
    """The spread of every figure over the runs, and each run by itself."""
    names = dict.fromkeys(name for run in runs for name in run.figures)
    figures = {name: spread([run.figures.get(name) for run in runs]) for name in names}
    return {"figures": figures, "runs": [asdict(run) for run in runs]}
