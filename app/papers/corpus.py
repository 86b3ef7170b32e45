"""Corpus: a published collection, from a folder with `train.*` and `test.*`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.datasets.collection import Collection, load_collection
from app.errors import InvalidRequestError
from app.labels import LabelIndex, Taxonomy

PARTS = ("train", "test")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A published collection: training and test documents, and the labels of the first."""

    train: Collection
    test: Collection
    labels: LabelIndex
    test_truth: Truth
    """Without labels that no training document has."""

    @property
    def label_texts(self) -> list[str] | None:
        """The labels' names as texts; None where documents are no texts."""
        return None if self.train.is_ready_made else Taxonomy.of([], self.labels).texts()

    @property
    def train_counts(self) -> NDArray[np.int64]:
        """Training documents of each label."""
        truth = self.labels.truth(self.train.label_sets)
        return np.asarray(truth.sum(axis=0), np.int64).ravel()


def read_corpus(folder: Path) -> Corpus:
    """The collection of a folder; refused where a part of it is missing."""
    why = why_absent(folder)
    if why:
        raise InvalidRequestError(why)
    train, test = (load_collection(_files(folder, part)[0]) for part in PARTS)
    labels = LabelIndex.of(train.label_sets)
    known = set(labels.names)
    kept = [tuple(one for one in own if one in known) for own in test.label_sets]
    return Corpus(train, test, labels, labels.truth(kept))


def why_absent(folder: Path) -> str | None:
    """Why a folder's collection cannot be had; None where it can."""
    missing = [part for part in PARTS if not _files(folder, part)]
    return f"{folder.name}/{missing[0]}.* is not in the folder of data" if missing else None


def _files(folder: Path, part: str) -> list[Path]:
    return sorted(folder.glob(f"{part}.*"))
