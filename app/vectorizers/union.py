"""Union: several kinds of tf-idf features of a text side by side, each with its weight."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from app.arrays import Features, Truth
from app.engine import Engine
from app.errors import DamagedArtifactError, InvalidRequestError
from app.folds import Folds
from app.kernels.linear.types import FittedPart
from app.kernels.text.analysis import Analysis
from app.progress import Progress, silent
from app.resources.scratch import ScratchFolder
from app.state import State
from app.vectorizers.base import TermSpans, Vectorizer
from app.vectorizers.tfidf import Tfidf
from app.vectorizers.tfidf_settings import TfidfSettings

PARTS: tuple[Mapping[str, Any], ...] = (
    {"analyzer": "word"},
    {"analyzer": "word", "ngram_range": (2, 2), "min_df": 2, "weight": 0.5},
    {"analyzer": "char_wb", "ngram_range": (3, 5), "min_df": 2},
)
"""Words, half as much pairs of words, and parts of words: what is joined unless a recipe says."""


class Union(Vectorizer):
    """The rows of several tf-idf vectorizers, each of length 1 times its weight, side by side.

    `parts` are the settings of one vectorizer each and its `weight`; what is set beside `parts`
    holds for every part that does not set it itself. Rows are not scaled again.
    """

    kind: ClassVar[str] = "union"
    settings_type: ClassVar[type | None] = TfidfSettings

    def __init__(self, *, parts: Sequence[Mapping[str, Any]] = PARTS, **settings: Any) -> None:
        tables = _checked(parts)
        self.parts = [Tfidf(**{**settings, **_without_weight(table)}) for table in tables]
        self.weights = [float(table.get("weight", 1.0)) for table in tables]
        self._learnt: list[int] = []
        """How many columns each part had in `fit_transform`, whatever it has selected since."""
        self._terms: list[str] = []

    @property
    def n_features(self) -> int:
        """How many terms all parts have."""
        return sum(part.n_features for part in self.parts)

    def word_analysis(self) -> Analysis:
        """That of the first part whose terms are made of words; else words as by default."""
        return next((p.analysis for p in self.parts if p.analysis.analyzer == "word"), Analysis())

    def unknown_terms(
        self, documents: Sequence[Any], *, are_own: bool = False
    ) -> NDArray[np.float64]:
        """That of the first part whose terms are made of words; else of the first part."""
        words = (part for part in self.parts if part.analysis.analyzer == "word")
        return next(words, self.parts[0]).unknown_terms(documents, are_own=are_own)

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Learn every part's terms, and the rows of these texts."""
        rows = [part.fit_transform(documents, jobs=jobs, progress=progress) for part in self.parts]
        self._learnt = self._widths()
        return self._joined(rows)

    def fit_transform_on(
        self,
        engine: Engine,
        documents: Sequence[Any],
        *,
        jobs: int,
        progress: Progress = silent,
        scratch: ScratchFolder | None = None,
    ) -> Features:
        """The same rows; workers learn the terms of each part, and weigh them."""
        rows = [
            part.fit_transform_on(engine, documents, jobs=jobs, progress=progress, scratch=scratch)
            for part in self.parts
        ]
        self._learnt = self._widths()
        return self._joined(rows)

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """The parts' rows side by side; a text without a known term is an empty row."""
        return self._joined([part.transform(documents, jobs=jobs) for part in self.parts])

    def held_out_rows(self, features: Features, folds: Folds) -> Features:
        """Each part's rows without terms that no document outside the fold has."""
        rows = zip(self.parts, self._apart(features, self._widths()), strict=True)
        return self._joined([part.held_out_rows(own, folds) for part, own in rows])

    @property
    def selects_terms(self) -> bool:
        """Whether a part does."""
        return any(part.selects_terms for part in self.parts)

    def select(
        self, features: Features, truth: Truth, documents: NDArray[Any] | None = None
    ) -> Features:
        """Keep the terms that each part chooses by itself."""
        if not self.selects_terms:
            return features
        rows = zip(self.parts, self._apart(features, self._learnt), strict=True)
        return self._joined([part.select(own, truth, documents) for part, own in rows])

    def selected_rows(self, features: Features, truth: Truth, documents: NDArray[Any]) -> Features:
        """The rows on the terms that each part chooses by these documents."""
        rows = zip(self.parts, self._apart(features, self._learnt), strict=True)
        return self._joined([part.selected_rows(own, truth, documents) for part, own in rows])

    def terms(self) -> Sequence[str]:
        """The terms of all parts in column order; a word may come again as a run of characters."""
        if len(self._terms) != self.n_features:
            self._terms = [term for part in self.parts for term in part.terms()]
        return self._terms

    def fitted_parts(self) -> Sequence[FittedPart]:
        """What a kernel needs for each part; none if there is a part that it cannot do."""
        fitted = [part.fitted_tfidf() for part in self.parts]
        return [
            FittedPart(own, weight)
            for own, weight in zip(fitted, self.weights, strict=True)
            if own is not None and None not in fitted
        ]

    def term_spans(self, text: str) -> TermSpans:
        """The row of one text, and where each of its terms stands in the text as sent."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for part, first in zip(self.parts, _starts(self._widths()), strict=False):
            own = part.term_spans(text).spans
            spans |= {first + column: places for column, places in own.items()}
        row = self.transform([text])
        return TermSpans(row.indices, row.data, spans)

    def state(self) -> State:
        """The weights, and the parts' states."""
        parts = {f"part{i}": part.state() for i, part in enumerate(self.parts)}
        return State(self.kind, {"weights": self.weights}, parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again."""
        union, weights = cls(), [float(weight) for weight in state.settings["weights"]]
        if len(weights) != len(state.parts):
            raise DamagedArtifactError(
                "the parts of the features and their weights differ in number"
            )
        union.weights = weights
        union.parts = [Tfidf.from_state(state.parts[f"part{i}"]) for i in range(len(weights))]
        return union

    def _widths(self) -> list[int]:
        return [part.n_features for part in self.parts]

    def _joined(self, rows: Sequence[Features]) -> Features:
        """The parts' rows, each times its weight, side by side."""
        weighed = [own * np.float32(w) for own, w in zip(rows, self.weights, strict=True)]
        return csr_array(hstack(weighed, format="csr", dtype=np.float32))

    def _apart(self, features: Features, widths: Sequence[int]) -> list[Features]:
        """The parts' rows before they were joined; stored entries stay where they are."""
        columns = zip(pairwise(_starts(widths)), self.weights, strict=True)
        return [features[:, start:stop] * np.float32(1 / w) for (start, stop), w in columns]


def _starts(widths: Sequence[int]) -> list[int]:
    """Where each part's columns begin, and where the last one's end."""
    starts: list[int] = np.cumsum([0, *widths]).tolist()
    return starts


def _checked(parts: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    """The parts' tables; what is no table, no setting or no weight is refused by name."""
    is_tables = isinstance(parts, list | tuple) and all(isinstance(own, Mapping) for own in parts)
    if not is_tables or not parts:
        raise InvalidRequestError("features.parts: accepted: one table or more, [[features.parts]]")
    accepted = [*(field.name for field in fields(TfidfSettings)), "weight"]
    for number, table in enumerate(parts):
        for name in table:
            if name not in accepted:
                problem = f"features.parts {number} has no setting {name!r}; accepted: "
                raise InvalidRequestError(problem + ", ".join(accepted))
        if not _is_weight(table.get("weight", 1.0)):
            raise InvalidRequestError(f"features.parts {number}: weight is a number above 0")
    return parts


def _is_weight(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")


def _without_weight(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != "weight"}
