"""k nearest neighbours: a document gets the labels of the training documents most like it.

After Yang (1999, section 4): the score of a label is the sum of the cosine similarities of those
among the k nearest documents that carry it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.csr_rows import CsrRows
from app.learners.base import LTC_FEATURES, Evidence, Fitting, Learner
from app.learners.ordered_map import for_parts
from app.state import State, pack_strings, unpack_strings

ROWS_A_TASK = 64
ROUNDING = 1e-4
MOST_CELLS = 2**26
"""Of documents and features where no value is 0: 0.5 GB as an index."""
CENTRE = "centre"
ARRAYS = ("starts", "documents", "values", "label_starts", "labels")


class Neighbours(NamedTuple):
    """The nearest documents of some rows, best first: (rows, k); number -1 where there are none."""

    documents: NDArray[np.int32]
    similarities: NDArray[np.float32]


class Knn(Learner):
    """Keeps the training documents' vectors as an inverted index, labels and ids; never texts.

    Exact: every document that shares a feature is compared. Similarities are cosines: rows that do
    not have length 1, as those of tf-idf have, are scaled to it. With `centred`, the training
    documents' mean is taken off first: for dense features, whose cosines are otherwise all near 1.
    """

    kind: ClassVar[str] = "knn"
    feature_settings: ClassVar[Mapping[str, Any]] = LTC_FEATURES

    def __init__(self, k: int = 45, centred: bool = False) -> None:
        if k < 1:
            raise InvalidRequestError("knn k: a whole number, 1 or more")
        self.k, self.centred = k, centred
        self._arrays: dict[str, NDArray[Any]] = {}
        self._ids: Sequence[str] | None = None
        self._n_labels = 0

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Keep the documents, by feature, and their labels."""
        centre = _centre(features) if self.centred else {}
        by_feature = csr_array(_vectors(features, centre).T)
        by_feature.sort_indices()
        self._n_labels = truth.shape[1]
        self._arrays = {
            **centre,
            "starts": by_feature.indptr.astype(np.int64),
            "documents": by_feature.indices.astype(np.int32),
            "values": by_feature.data.astype(np.float32),
            "label_starts": truth.indptr.astype(np.int64),
            "labels": truth.indices.astype(np.int32),
        }
        self._ids = (fitting or Fitting()).ids
        return self

    def for_labels(self, labels: NDArray[np.int64]) -> "Knn":
        """The same neighbours, of whose labels these count."""
        return Knn(self.k, self.centred)

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """The sum of similarities of the neighbours that carry the label; 0 where none does."""
        neighbours = self.nearest(features, jobs=jobs)
        is_there = neighbours.documents >= 0
        starts = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        shape = (features.shape[0], self.n_documents)
        own = (neighbours.similarities[is_there], neighbours.documents[is_there], starts)
        scores: Scores = (csr_array(own, shape=shape) @ self._truth()).toarray()
        return scores

    def nearest(self, features: Features, *, jobs: int = 1) -> Neighbours:
        """The k nearest training documents of each row."""
        features = _vectors(features, self._arrays)
        n_rows, k = features.shape[0], min(self.k, max(self.n_documents, 1))
        documents = np.full((n_rows, k), -1, np.int32)
        similarities = np.zeros((n_rows, k), np.float32)
        rows = CsrRows.of(features)
        postings = tuple(read_only(self._arrays[n]) for n in ("starts", "documents", "values"))
        search = kernels("neighbours.nearest").nearest

        def fill(some: slice) -> None:
            work = np.zeros(self.n_documents, np.float32)
            search(rows.at(some), postings, similarities[some], documents[some], work)

        for_parts(fill, n_rows, ROWS_A_TASK, jobs)
        return Neighbours(documents, similarities)

    def evidence(
        self,
        columns: NDArray[Any],
        values: NDArray[np.float32],
        labels: Sequence[int],
        terms: Sequence[str],
    ) -> list[Evidence]:
        """The neighbours that carry each label: their similarities are its score."""
        row = csr_array((values, columns, [0, len(columns)]), shape=(1, self.n_features))
        nearest = self.nearest(row)
        is_there = nearest.documents[0] >= 0
        documents, similarities = nearest.documents[0][is_there], nearest.similarities[0][is_there]
        carried = self._truth()[documents]
        return [
            self._evidence(documents, similarities, carried[:, [label]].toarray()[:, 0] > 0)
            for label in labels
        ]

    def _evidence(
        self, documents: NDArray[Any], similarities: NDArray[Any], carry: NDArray[np.bool_]
    ) -> Evidence:
        names = [self._name(document) for document in documents[carry].tolist()]
        return Evidence("neighbour", names, similarities[carry], 0.0)

    def _name(self, document: int) -> str:
        """A training document's id, or its place in the data where it has none."""
        return str(document + 1) if self._ids is None else self._ids[document]

    @property
    def n_features(self) -> int:
        """How many features the vectors have."""
        return len(self._arrays["starts"]) - 1

    @property
    def n_documents(self) -> int:
        """How many training documents are kept."""
        return len(self._arrays["label_starts"]) - 1

    def _truth(self) -> csr_array:
        labels = self._arrays["labels"]
        ones = np.ones(len(labels), np.float32)
        shape = (self.n_documents, self._n_labels)
        return csr_array((ones, labels, self._arrays["label_starts"]), shape=shape)

    def state(self) -> State:
        """Settings, the index and the labels."""
        ids = {} if self._ids is None else pack_strings(self._ids, "ids")
        settings = {"k": self.k, "centred": self.centred, "n_labels": self._n_labels}
        return State(self.kind, settings, {**self._arrays, **ids})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        settings = dict(state.settings)
        n_labels = settings.pop("n_labels")
        learner = cls(**settings)
        learner._n_labels = n_labels
        names = (CENTRE, *ARRAYS) if learner.centred else ARRAYS
        learner._arrays = {name: state.arrays[name] for name in names}
        if "ids" in state.arrays:
            learner._ids = unpack_strings(state.arrays, "ids")
        return learner


def _centre(features: Features) -> dict[str, NDArray[np.float32]]:
    """The mean of the rows, which is what makes them dense."""
    if features.shape[0] * features.shape[1] > MOST_CELLS:
        raise InvalidRequestError(
            f"knn centred: no value of {features.shape[0]:,} documents and {features.shape[1]:,} "
            f"features stays 0, and at most {MOST_CELLS:,} can be kept; for texts leave it out"
        )
    return {CENTRE: np.asarray(features.mean(axis=0), np.float32)}


def _vectors(features: Features, arrays: Mapping[str, NDArray[Any]]) -> csr_array:
    """The rows as they are compared: less the centre where there is one, and of length 1."""
    if CENTRE in arrays:
        features = csr_array(features.toarray() - arrays[CENTRE])
    return unit_rows(features)


def unit_rows(features: Features) -> csr_array:
    """The rows scaled to length 1; empty ones, and those that have it but for rounding, as is."""
    rows = csr_array(features)
    squares = rows.data.astype(np.float64) ** 2
    n_values = np.diff(rows.indptr)
    places = np.repeat(np.arange(rows.shape[0]), n_values)
    lengths = np.sqrt(np.bincount(places, weights=squares, minlength=rows.shape[0]))
    is_unit = (np.abs(lengths - 1.0) < ROUNDING) | (lengths == 0)
    if is_unit.all():
        return rows
    scale = np.repeat(np.where(is_unit, 1.0, 1.0 / np.where(lengths > 0, lengths, 1.0)), n_values)
    return csr_array(
        ((rows.data * scale).astype(np.float32), rows.indices, rows.indptr), rows.shape
    )
