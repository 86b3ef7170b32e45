"""Writes each document's labels as JSON lines, in the form that `--scores` reads again."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.evaluation.answered_labels import answered_calibration, answered_labels
from app.evaluation.scorer import Scorer


class PredictionLines:
    """A file of predictions: labels by falling score, with score, probability and threshold."""

    def __init__(self, file: Path, scorer: Scorer, cuts: NDArray[np.float32] | None) -> None:
        self._names = answered_labels(scorer).names
        self._calibration = answered_calibration(scorer)
        self._cuts = cuts
        self._file = file.open("wb")

    def add(self, ids: list[str | None], scores: Scores, marks: Marks) -> None:
        """Write one chunk."""
        lines = [self._line(*each) for each in zip(ids, scores, marks, strict=True)]
        self._file.write(b"".join(lines))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _line(self, id: str | None, scores: Any, marks: Any) -> bytes:
        chosen = np.flatnonzero(marks)
        chosen = chosen[np.argsort(-scores[chosen], kind="stable")]
        labels = [{"label": self._names[c], "score": float(scores[c])} for c in chosen]
        if self._calibration is not None:
            likely = self._calibration.probability(chosen, scores[chosen]).tolist()
            for label, probability in zip(labels, likely, strict=True):
                label["probability"] = probability
        if self._cuts is not None:
            for label, cut in zip(labels, self._cuts[chosen].tolist(), strict=True):
                label["threshold"] = cut if np.isfinite(cut) else None
        identity = {} if id is None else {"id": id}
        return msgspec.json.encode({**identity, "labels": labels}) + b"\n"
