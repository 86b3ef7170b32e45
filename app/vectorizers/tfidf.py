"""Tf-idf: texts → rows of weighed terms, the same matrix as scikit-learn's TfidfVectorizer."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features
from app.errors import DamagedArtifactError, InvalidDataError
from app.folds import Folds
from app.kernels import kernels
from app.kernels.linear.types import FittedTfidf
from app.kernels.text.counts import Counts, kept
from app.kernels.text.offsets import terms_with_offsets
from app.kernels.vocabulary.vocabulary import Vocabulary
from app.progress import Progress, silent
from app.state import State
from app.vectorizers.base import TermSpans, Vectorizer
from app.vectorizers.fold_vocabulary import is_known, rescaled
from app.vectorizers.selection import frequent_enough
from app.vectorizers.tfidf_settings import TfidfSettings


class Tfidf(Vectorizer):
    """Counts terms, weighs them by their rarity, and scales each row to length 1."""

    kind: ClassVar[str] = "tfidf"
    settings_type: ClassVar[type | None] = TfidfSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = TfidfSettings(**settings)
        self.analysis = self.settings.analysis()
        self.vocabulary = Vocabulary.empty()
        self.frequencies: NDArray[np.uint32] = np.zeros(1, np.uint32)
        self.idf: NDArray[np.float64] = np.zeros(0)

    @property
    def n_features(self) -> int:
        """How many terms there are."""
        return len(self.vocabulary)

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Learn the terms and their weights, and the rows of these texts."""
        progress("vectorize", 0, len(documents))
        vocabulary, counts = kernels("text.tokens").learn(documents, self.analysis, jobs=jobs)
        if self.settings.binary:
            counts.counts.fill(1)
        keep = frequent_enough(counts, len(vocabulary), self.settings)
        if not keep.all():
            vocabulary, counts = vocabulary.kept(keep), kept(counts, keep)
        if len(vocabulary) == 0:
            raise InvalidDataError("no terms are left: texts are empty, or the limits too narrow")
        self.vocabulary = vocabulary
        self.frequencies = document_frequencies(counts, len(vocabulary))
        self.idf = rarity(self.frequencies, self.settings.scheme)
        progress("vectorize", len(documents), len(documents))
        return self._weighed(counts, jobs)

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """Rows of tf-idf weights; a text without a known term is an empty row."""
        tokens = kernels("text.tokens")
        counts = tokens.count_known(documents, self.analysis, self.vocabulary, jobs=jobs)
        if self.settings.binary:
            counts.counts.fill(1)
        return self._weighed(counts, jobs)

    def held_out_rows(self, features: Features, folds: Folds) -> Features:
        """The rows without terms that no document outside the fold has, scaled to length 1 again.

        The idf stays that of all documents.
        """
        return rescaled(features, is_known(features, features.indices, folds))

    def terms(self) -> Sequence[str]:
        """The terms in column order."""
        return self.vocabulary.terms

    def fitted_tfidf(self) -> FittedTfidf | None:
        """What a kernel needs to go from text to scores in one step; None if it cannot."""
        if self.analysis.stem is not None:
            return None
        scheme, binary = self.settings.scheme, self.settings.binary
        return FittedTfidf(self.analysis, self.vocabulary, self.idf, scheme, binary)

    def term_spans(self, text: str) -> TermSpans:
        """The row of one text, and where each of its terms stands in the text as sent."""
        row = self.transform([text])
        spans: dict[int, list[tuple[int, int]]] = {int(column): [] for column in row.indices}
        known = self.vocabulary.columns
        for term, start, end in terms_with_offsets(text, self.analysis):
            if term in known and end > start:
                spans[known[term]].append((start, end))
        return TermSpans(row.indices, row.data, spans)

    def state(self) -> State:
        """Settings; packed terms with their hash table; in how many documents they stand."""
        return State(
            self.kind,
            asdict(self.settings),
            {**self.vocabulary.arrays(), "frequencies": self.frequencies},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again; nothing is read before it is needed."""
        vectorizer = cls(**state.settings)
        vectorizer.vocabulary = Vocabulary.from_arrays(state.arrays)
        vectorizer.frequencies = state.arrays["frequencies"]
        if len(vectorizer.frequencies) != vectorizer.n_features + 1:
            raise DamagedArtifactError("the vocabulary and its frequencies differ in number")
        vectorizer.idf = rarity(vectorizer.frequencies, vectorizer.settings.scheme)
        return vectorizer

    def _weighed(self, counts: Counts, jobs: int) -> Features:
        weights = kernels("text.tfidf").tfidf_weights(counts, self.idf, self.settings.scheme)
        shape = (len(counts.indptr) - 1, self.n_features)
        return csr_array((weights, counts.columns, counts.indptr), shape=shape)


def document_frequencies(counts: Counts, n_terms: int) -> NDArray[np.uint32]:
    """In how many documents each term stands, and behind them the number of documents."""
    frequencies = np.bincount(counts.columns, minlength=n_terms)
    return np.append(frequencies, len(counts.indptr) - 1).astype(np.uint32)


def rarity(frequencies: NDArray[np.uint32], scheme: str) -> NDArray[np.float64]:
    """The idf of each term: ln((1 + D)/(1 + df)) + 1, or ln(D/df) for the SMART schemes."""
    frequency, n_documents = frequencies[:-1].astype(np.float64), float(frequencies[-1])
    if scheme in ("tfidf", "log"):
        return np.log((1.0 + n_documents) / (1.0 + frequency)) + 1.0
    return np.log(n_documents / frequency)
