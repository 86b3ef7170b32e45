"""The one protocol every vectorizer keeps: what it must define, and every hook with its default."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Truth
from app.catalogue import find
from app.engine import Engine
from app.folds import Folds
from app.kernels.linear.types import FittedPart, FittedTfidf
from app.kernels.text.analysis import Analysis
from app.progress import Progress, silent
from app.resources.scratch import ScratchFolder
from app.state import State
from app.vectorizers import VECTORIZERS


class TermSpans(NamedTuple):
    """One text's columns and values, and the spans of each column: code points, end exclusive.

    Where rows are sequences, `columns` are the numbers in reading order and `values` are ones.
    """

    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    spans: dict[int, list[tuple[int, int]]]


class Vectorizer(Protocol):
    """Turns documents into features: texts (or, for `ready-made`, feature rows) in, rows out.

    A vectorizer is a class that inherits from this one. It states `kind` and defines the abstract
    methods; everything else has a default below, which it overrides where it can do more.
    """

    kind: ClassVar[str]
    """Its name in the catalogue, in recipes and in artifacts."""
    settings_type: ClassVar[type | None] = None
    """The dataclass whose fields the constructor takes as `**settings`; None: it names them all."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many columns `transform` gives."""

    @abstractmethod
    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Learn the vocabulary; the rows that `transform` gives. The same for any `jobs`."""

    def fit_transform_on(
        self,
        engine: Engine,
        documents: Sequence[Any],
        *,
        jobs: int,
        progress: Progress = silent,
        scratch: ScratchFolder | None = None,
    ) -> Features:
        """The same rows, with what can be done by workers done there; in files where there is a
        folder for them."""
        return self.fit_transform(documents, jobs=jobs, progress=progress)

    @abstractmethod
    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """Features, one row a document; an empty or unknown text is an empty row."""

    @abstractmethod
    def terms(self) -> Sequence[str]:
        """What each column stands for, in column order; for sequences, what each number does."""

    @abstractmethod
    def state(self) -> State:
        """Everything needed to build an equal vectorizer."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again, on memory-mapped, read-only arrays."""

    def term_spans(self, text: str) -> TermSpans | None:
        """One text's row, and where its terms stand in the text as sent; None: there is no text.

        Without it predictions cannot be explained.
        """
        return None

    def fitted_tfidf(self) -> FittedTfidf | None:
        """What a kernel needs to turn texts into weighted terms by itself; None: it cannot.

        With a learner that has `linear_weights`, texts are then scored by one kernel.
        """
        return None

    def fitted_parts(self) -> Sequence[FittedPart]:
        """The same for rows that are several fitted tf-idf side by side; none: it cannot."""
        fitted = self.fitted_tfidf()
        return [] if fitted is None else [FittedPart(fitted)]

    def word_analysis(self) -> Analysis | None:
        """How a text is cut into the words that hand-written rules name; None: there is no text."""
        return Analysis()

    def unknown_terms(
        self, documents: Sequence[Any], *, are_own: bool = False
    ) -> NDArray[np.float64] | None:
        """The share of each text's terms that the vocabulary does not have; None: it cannot tell.

        `are_own`: the vocabulary was learnt from these texts. A term that no other of them has then
        counts as unknown, as it would be had the text come later.
        """
        return None

    def held_out_rows(self, features: Features, folds: Folds) -> Features:
        """The rows of `fit_transform` as the model that is to score each document sees it.

        Terms that the documents outside a fold do not have are dropped, as unknown terms of a new
        text are. By default the rows as they are: right where no value depends on the others of its
        row, since a learner gives nothing to a column that it never saw.
        """
        return features

    @property
    def selects_terms(self) -> bool:
        """Whether `select` keeps fewer columns than `fit_transform` gives."""
        return False

    def select(
        self, features: Features, truth: Truth, documents: NDArray[Any] | None = None
    ) -> Features:
        """Keep for good the columns that these documents choose (None: all documents do).

        `features` are the rows of `fit_transform`; the same rows on the columns that are kept.
        """
        return features

    def selected_rows(self, features: Features, truth: Truth, documents: NDArray[Any]) -> Features:
        """The rows of `fit_transform` as a model that knows these documents alone sees them.

        As `select`, but nothing is kept: what tells held-out documents apart may not be chosen by
        their own labels.
        """
        return features

    def word_vectors(self) -> NDArray[np.float32] | None:
        """Pre-trained vectors by word number, NaN in the rows of words without one; None: none."""
        return None


def vectorizer_class(kind: str) -> type[Vectorizer]:
    """The class behind a catalogue name."""
    vectorizer: type[Vectorizer] = find(VECTORIZERS, kind, "vectorizer")
    return vectorizer
