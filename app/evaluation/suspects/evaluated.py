"""SuspectLabels: suspects of the documents that an evaluation sees go by."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Truth
from app.decisions.calibration.calibration import Calibration
from app.evaluation.measure.tally import Tally
from app.evaluation.options import JudgedModel
from app.evaluation.suspects.evidence import evidence, frequencies
from app.evaluation.suspects.label_pairs import LEAST_PROBABILITY, LabelPairs
from app.evaluation.suspects.suspect_list import Places, Suspect, SuspectList
from app.metrics.counting.score_rows import DenseRows, ScoredPairs, ScoreRows

NO_SUSPECTS = (
    "no label can be called suspect: the model has no probabilities, which come from held-out "
    "scores; train it with --folds 2 or more, or retune it"
)


class SuspectLabels:
    """The most suspect labels, judged by the model's probabilities and training frequencies.

    How labels go together is not used here: that is known once all documents have been seen.
    """

    def __init__(self, most: int, calibration: Calibration, frequency: NDArray[np.float64]) -> None:
        self._finder, self._frequency = PairFinder(calibration), frequency
        self._list = SuspectList(most)

    def add(self, scores: ScoreRows, truth: Truth, places: Places, names: Sequence[str]) -> None:
        """Look at one chunk."""
        pairs = self._finder.pairs(scores, truth)
        self._list.add(pairs, evidence(pairs, self._frequency), places, names)

    def tally(self) -> Tally:
        """What was found, to be added to another's list."""
        return self._list.tally()

    def merge(self, tally: Tally, first_line: int) -> None:
        """Add what was found in further documents, whose lines count on from `first_line`."""
        self._list.merge(tally, first_line)

    def listed(self) -> list[Suspect]:
        """Most suspect first."""
        return self._list.listed()


def suspect_labels(
    most: int, calibration: Calibration | None, info: JudgedModel
) -> SuspectLabels | None:
    """None where no suspects are asked for, or the model has no probabilities."""
    counts, n_documents = info.training_counts, info.n_training_documents
    if not most or calibration is None or counts is None or n_documents is None:
        return None
    return SuspectLabels(most, calibration, frequencies(np.asarray(counts), n_documents))


class PairFinder:
    """Finds the pairs of a chunk of scored documents that can be suspects."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._least = calibration.least_scores(LEAST_PROBABILITY)

    def pairs(self, scores: ScoreRows, truth: Truth) -> LabelPairs:
        """Given pairs and likely ones; labels that are unknown to the model are left out."""
        known = csr_array(truth)[:, : scores.n_columns].tocoo()
        document, label = known.row.astype(np.int64), known.col.astype(np.int64)
        rows = scores if isinstance(scores, ScoredPairs) else self._likely(scores, document, label)
        at = rows.find(document, label)
        is_given = np.zeros(len(rows.score), np.bool_)
        is_given[at[at >= 0]] = True
        kept = np.flatnonzero(is_given | (rows.score >= self._least[rows.column]))
        column = rows.column[kept]
        return LabelPairs(
            rows.document[kept].astype(np.int32),
            column.astype(np.int32),
            self._calibration.probability(column, rows.score[kept].astype(np.float32)),
            is_given[kept],
            rows.n_documents,
        )

    def _likely(self, rows: DenseRows, document: Any, label: Any) -> ScoredPairs:
        """The pairs of an array that matter: the others would take five times the array."""
        wanted = rows.scores >= self._least
        wanted[document, label] = True
        return ScoredPairs.of(np.where(wanted, rows.scores, np.float32(-np.inf)))
