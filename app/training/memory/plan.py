"""MemoryPlan: what a training will need, and whether large arrays go to files or nothing fits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.datasets.collection import Collection
from app.errors import InsufficientMemoryError, InvalidDataError
from app.resources.memory import bytes_left
from app.resources.need import DataSizes, FitBytes
from app.resources.scratch import ScratchFolder
from app.resources.texts import texts_at
from app.training.members import built
from app.training.recipe import READY_MADE, MemberRecipe, Recipe
from app.vectorizers.base import vectorizer_class

SAMPLED_PLACES, NEIGHBOURS = 16, 32
"""Documents that are looked at: some neighbours in some places, which are read from few chunks."""
LIMITS = ("min_df", "max_df", "max_features", "select", "keep", "select_over")
"""Settings that drop terms of a small sample which all documents would keep."""
BYTES_OF_VECTORIZING = {"tfidf": 14, "union": 22, READY_MADE: 0}
"""A stored feature: column, count and weight, or two matrices while the parts of one are joined."""
BYTES_OF_EVERY_TRAINING = 64 << 20
"""Compiled kernels, and chunks of texts and rows that are worked on."""
BYTES_OF_A_DOCUMENT = 100
"""Folds, marks and row ends."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The bytes that a training needs beside what is in use, and what is left of the first limit.

    An estimate, from a sample of the documents: docs/scaling.md says how far it was off.
    """

    sizes: DataSizes
    need: FitBytes
    left: int | None
    folder: Path | None

    @property
    def is_mapped(self) -> bool:
        """Whether features and held-out scores are to lie in files: asked for, or no room."""
        return self.folder is not None or self._exceeds(self.need.in_memory)

    @property
    def n_bytes(self) -> int:
        """What is needed, the way it will be done."""
        return self.need.mapped if self.is_mapped else self.need.in_memory

    def scratch(self) -> ScratchFolder | None:
        """Where large arrays go; None: they stay in memory."""
        return ScratchFolder(self.folder) if self.is_mapped else None

    def check(self) -> None:
        """InsufficientMemoryError where it would not fit even with large arrays in files."""
        if self._exceeds(self.need.mapped):
            raise InsufficientMemoryError(
                f"{self.sentence()}. Train on fewer documents, give it a machine or a container "
                "with more memory, or lower --jobs; --folds 0 and --learner tree need less"
            )

    def sentence(self) -> str:
        """What is needed and what is left, in one line."""
        sizes, files = self.sizes, ", large arrays in files" if self.is_mapped else ""
        words = sizes.n_entries / max(sizes.n_documents, 1)
        left = "" if self.left is None else f"; {_gigabytes(self.left)} are left"
        return (
            f"training needs about {_gigabytes(self.n_bytes)} more memory ({sizes.n_documents:,} "
            f"documents of {words:.0f} features, {sizes.n_labels:,} labels{files}){left}"
        )

    def _exceeds(self, n_bytes: int) -> bool:
        return self.left is not None and n_bytes > self.left


def memory_plan(
    data: Collection, recipe: Recipe, *, jobs: int, folder: Path | None = None
) -> MemoryPlan | None:
    """The plan of a completed recipe for these documents; None for networks, which are not known.

    Members are fitted one after another; the held-out scores of each stay.
    """
    n_labels = len({label for labels in data.label_sets for label in labels})
    folds, kept, largest = recipe.decision.folds, 0, None
    for member in recipe.members:
        rows = _sampled_rows(data, member)
        if rows is None:
            return None
        sizes = DataSizes(len(data), rows.n_entries, rows.n_features, n_labels, folds, jobs)
        need = _needed(member, sizes).and_also(kept)
        kept += sizes.held_out_bytes
        if largest is None or need.in_memory > largest[1].in_memory:
            largest = sizes, need
    return None if largest is None else MemoryPlan(*largest, bytes_left(), folder)


def _needed(member: MemberRecipe, sizes: DataSizes) -> FitBytes:
    fit = built(member)[1].bytes_of_fit(sizes)
    vectorizing = BYTES_OF_VECTORIZING[member.vectorizer] * sizes.n_entries
    need = FitBytes(max(fit.in_memory, vectorizing), max(fit.mapped, vectorizing))
    every = BYTES_OF_EVERY_TRAINING + BYTES_OF_A_DOCUMENT * sizes.n_documents
    return need.and_also(every)


class _Rows(NamedTuple):
    n_entries: int
    n_features: int


def _sampled_rows(data: Collection, member: MemberRecipe) -> _Rows | None:
    """How many features all documents will store, and in how many columns."""
    if data.is_ready_made:
        return _Rows(data.documents.nnz, data.documents.shape[1])
    if member.vectorizer not in BYTES_OF_VECTORIZING:
        return None
    starts = np.linspace(0, max(len(data) - NEIGHBOURS, 0), SAMPLED_PLACES).astype(np.int64)
    places = np.unique((starts[:, None] + np.arange(NEIGHBOURS)).ravel())
    texts = list(texts_at(data.documents, places[places < len(data)].tolist()))
    vectorizer = vectorizer_class(member.vectorizer)(**_without_limits(member.vectorizer_settings))
    try:
        rows = vectorizer.fit_transform(texts)
    except InvalidDataError:  # no terms in the sample: what is wrong is said by the training
        return _Rows(0, 0)
    more = len(data) / len(texts)
    # Vocabularies grow with the square root of the texts, about (Heaps' law).
    return _Rows(int(rows.nnz * more), int(rows.shape[1] * more**0.5))


def _without_limits(settings: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in settings.items() if name not in LIMITS}
    if "parts" in kept:
        kept["parts"] = [_without_limits(dict(part)) for part in kept["parts"]]
    return kept


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB"
