"""Suspects of training data, by the probabilities of models that did not see the documents."""

from collections.abc import Sequence

import numpy as np

from app.decisions.calibration.calibration import Calibration
from app.evaluation.suspects.co_occurrence import CoOccurrence
from app.evaluation.suspects.evidence import evidence, frequencies
from app.evaluation.suspects.label_pairs import LEAST_PROBABILITY, LabelPairs
from app.evaluation.suspects.suspect_list import Places, Suspect, SuspectList
from app.heldout import HeldOut


def held_out_suspects(
    held_out: HeldOut,
    calibration: Calibration,
    places: Places,
    names: Sequence[str],
    *,
    most: int,
) -> list[Suspect]:
    """The most suspect pairs, best first; `places` are of the documents that were held out."""
    pairs = held_out_pairs(held_out, calibration)
    co_occurrence = CoOccurrence.of(held_out.truth)
    frequency = frequencies(co_occurrence.documents, held_out.n_documents)
    found = SuspectList(most)
    found.add(pairs, evidence(pairs, frequency, co_occurrence), places, names)
    return found.listed()


def held_out_pairs(held_out: HeldOut, calibration: Calibration) -> LabelPairs:
    """The pairs of held-out scores, collected label by label."""
    least = calibration.least_scores(LEAST_PROBABILITY)
    documents, counts, probabilities, given = [], [], [], []
    for number, column in enumerate(held_out.columns()):
        kept = np.flatnonzero(column.marks | (column.scores >= least[number]))
        label = np.full(len(kept), number)
        documents.append(column.documents[kept].astype(np.int32))
        counts.append(len(kept))
        probabilities.append(calibration.probability(label, column.scores[kept]))
        given.append(column.marks[kept])
    document = np.concatenate(documents)
    label = np.repeat(np.arange(held_out.n_labels, dtype=np.int32), counts)
    order = np.argsort(document, kind="stable")  # labels rise within a document already
    return LabelPairs(
        document[order],
        label[order],
        np.concatenate(probabilities)[order],
        np.concatenate(given)[order],
        held_out.n_documents,
    )
