"""The labels above their cuts, best first, for one document, in plain numpy."""

from typing import Any

import numpy as np


def pick(scores: Any, cuts: Any, columns: Any, found: Any) -> int:
    """Put the best columns with `score > cut` into `columns`, their scores into `found`.

    By falling score, ties by rising column; as many as there is room for. Returns how many pass.
    """
    passing = np.flatnonzero(scores > cuts)
    best = passing[np.argsort(-scores[passing], kind="stable")][: len(columns)]
    columns[: len(best)] = best
    found[: len(best)] = scores[best]
    return len(passing)


def warm() -> None:
    """There is nothing to compile."""
