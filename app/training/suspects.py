"""Suspect labels of the training data, named by the ids and lines of its documents."""

import numpy as np
from numpy.typing import NDArray

from app.classifier import Classifier
from app.datasets.collection import Collection
from app.evaluation.suspects.held_out import held_out_suspects
from app.evaluation.suspects.suspect_list import Places, Suspect
from app.heldout import HeldOut


def training_suspects(
    data: Collection,
    classifier: Classifier,
    held_out: HeldOut,
    rows: NDArray[np.int64],
    *,
    most: int,
) -> list[Suspect]:
    """The most suspect labels of the documents `rows`, whose held-out scores these are."""
    calibration = classifier.calibration
    if not most or calibration is None:
        return []
    lines = data.lines if data.lines is not None else np.arange(1, len(data) + 1)
    places = Places([data.ids[row] for row in rows.tolist()], lines[rows])
    return held_out_suspects(held_out, calibration, places, classifier.labels.names, most=most)
