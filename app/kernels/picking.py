"""The labels above their cuts, best first, for one document, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import brief, kernel
from app.kernels.scoring import score_text


@kernel
def pick_text(text: Any, numbers: Any, weights: Any, cuts: Any, columns: Any, found: Any) -> int:
    """The same as `pick` for the scores of one text, which are kept by nobody."""
    scores = np.empty(len(cuts), np.float32)
    score_text(text, numbers, weights, scores)
    passing: int = pick(scores, cuts, columns, found)
    return passing


@brief
def pick(scores: Any, cuts: Any, columns: Any, found: Any) -> int:
    """Put the best columns with `score > cut` into `columns`, their scores into `found`.

    By falling score, ties by rising column; as many as there is room for. Returns how many pass.
    """
    room, kept, passing = len(columns), 0, 0
    for column in range(len(scores)):
        score = scores[column]
        if score > cuts[column]:
            passing += 1
            if kept == room:
                if score <= found[room - 1]:
                    continue
                kept -= 1
            at = kept
            while at > 0 and found[at - 1] < score:
                found[at] = found[at - 1]
                columns[at] = columns[at - 1]
                at -= 1
            found[at] = score
            columns[at] = column
            kept += 1
    return passing


def warm() -> None:
    """Compile everything here."""
    one = np.zeros(1, np.float32)
    pick(one, one - 1, np.zeros(1, np.int64), one)
