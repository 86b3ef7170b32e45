"""Sequences: texts → rows of word numbers in reading order, what networks read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features
from app.errors import InvalidDataError, InvalidRequestError
from app.folds import Folds
from app.kernels.text.analysis import Analysis
from app.kernels.text.offsets import terms_with_offsets
from app.progress import Progress, silent
from app.state import State, pack_strings, unpack_strings
from app.vectorizers.base import TermSpans, Vectorizer
from app.vectorizers.fold_vocabulary import is_known
from app.vectorizers.word_vectors import read_word_vectors

UNKNOWN, FIRST = 1, 2
"""A word that is not in the vocabulary is 1; the vocabulary starts at 2; 0 is never stored."""


@dataclass(frozen=True, slots=True)
class SequenceSettings:
    """What may be chosen. `min_count`: how often a word must occur in training to get a number."""

    max_length: int = 500
    min_count: int = 2
    max_words: int = 0
    """At most so many words, the most frequent ones; 0 = all."""

    def __post_init__(self) -> None:
        if self.max_length < 1 or self.min_count < 1 or self.max_words < 0:
            problem = "sequences: accepted: max_length and min_count of at least 1, max_words of 0"
            raise InvalidRequestError(f"{problem} (all) or more")


class Sequences(Vectorizer):
    """Numbers words, and cuts texts at `max_length` words.

    Words are those of tf-idf. Row and column of the result are document and position; the value
    is the word's number, so that rows can be picked and stacked like those of other features.
    `vectors` names a text file of word vectors (word2vec or GloVe); networks start from them.
    """

    kind: ClassVar[str] = "sequences"
    settings_type: ClassVar[type | None] = SequenceSettings

    def __init__(self, *, vectors: str = "", **settings: Any) -> None:
        self.settings = SequenceSettings(**settings)
        self.words: list[str] = []
        self.numbers: dict[str, int] = {}
        self._vectors_file = vectors
        self._word_vectors: NDArray[np.float32] | None = None
        self._analysis = Analysis()

    @property
    def n_features(self) -> int:
        """How many positions there are."""
        return self.settings.max_length

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Number the words that are frequent enough, and the rows of these texts."""
        progress("vectorize", 0, len(documents))
        self._learn(Counter(word for text in documents for word in self._analysis.terms(text)))
        if self._vectors_file:
            self._word_vectors = read_word_vectors(self._vectors_file, ["", "", *self.words])
        progress("vectorize", len(documents), len(documents))
        return self.transform(documents, jobs=jobs)

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """Rows of word numbers; a text without words is an empty row."""
        numbers, longest = self.numbers, self.settings.max_length
        rows = [
            [numbers.get(word, UNKNOWN) for word in self._analysis.terms(text)[:longest]]
            for text in documents
        ]
        return stacked(rows, longest)

    def held_out_rows(self, features: Features, folds: Folds) -> Features:
        """The rows with `UNKNOWN` for words that no document outside the fold has."""
        known = is_known(features, features.data, folds)
        numbers = np.where(known, features.data, UNKNOWN).astype(features.dtype)
        return csr_array((numbers, features.indices, features.indptr), shape=features.shape)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the word of each position stands in the text, in code points, end exclusive."""
        terms = terms_with_offsets(text, self._analysis)
        return [(start, end) for _, start, end in terms][: self.settings.max_length]

    def term_spans(self, text: str) -> TermSpans:
        """The word numbers in reading order, ones, and where each word stands in the text."""
        return sequence_spans(self.transform([text]), self.spans(text))

    def terms(self) -> Sequence[str]:
        """The words by their numbers; numbers 0 and 1 stand for none."""
        return ["", "", *self.words]

    def word_vectors(self) -> NDArray[np.float32] | None:
        """The vectors that the file `vectors` has for the words; read in `fit_transform`."""
        return self._word_vectors

    def state(self) -> State:
        """Settings and the words in the order of their numbers."""
        return State(self.kind, asdict(self.settings), pack_strings(self.words, "words"))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again."""
        vectorizer = cls(**state.settings)
        vectorizer._number(unpack_strings(state.arrays, "words"))
        return vectorizer

    def _learn(self, counts: Counter[str]) -> None:
        """Number words by falling frequency, equals by code points: rare words go last."""
        frequent = [word for word, count in counts.items() if count >= self.settings.min_count]
        if not frequent:
            raise InvalidDataError("no words are left: texts are empty, or min_count is too high")
        frequent.sort(key=lambda word: (-counts[word], word))
        self._number(frequent[: self.settings.max_words or None])

    def _number(self, words: list[str]) -> None:
        self.words = words
        self.numbers = {word: number for number, word in enumerate(words, FIRST)}


def sequence_spans(row: Features, spans: list[tuple[int, int]]) -> TermSpans:
    """A row's numbers in reading order, a one for each, and the spans of each number."""
    by_number: dict[int, list[tuple[int, int]]] = {}
    for number, span in zip(row.data.tolist(), spans, strict=False):
        by_number.setdefault(number, []).append(span)
    return TermSpans(row.data, np.ones(row.nnz, np.float32), by_number)


def stacked(rows: Iterable[Sequence[int]], width: int) -> Features:
    """Rows of numbers as one matrix (documents, positions) of int32.

    >>> stacked([[5, 2], [], [7]], 3).toarray().tolist()
    [[5, 2, 0], [0, 0, 0], [7, 0, 0]]
    """
    arrays = [np.asarray(row, dtype=np.int32) for row in rows]
    lengths = np.array([len(row) for row in arrays], dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    positions = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    numbers = np.concatenate([np.zeros(0, np.int32), *arrays])
    shape = (len(arrays), width)
    return csr_array((numbers, positions.astype(np.int32), indptr.astype(np.int32)), shape=shape)
