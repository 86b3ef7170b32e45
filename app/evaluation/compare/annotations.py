"""Label files of the same documents, matched: which annotator judged what, and how."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.errors import InvalidDataError
from app.evaluation.chunks import TestDocument
from app.labels import LabelIndex
from app.metrics.agreement.ratings import Ratings

LISTED = 20

LabelsById = dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Annotations:
    """All annotators' label sets in common rows, a row a document that any of them has."""

    names: tuple[str, ...]
    """Of the annotators."""
    matched_by: str
    """`id`, or `order`."""
    documents: tuple[str, ...]
    """Ids, or the documents' numbers from 1 where they are matched by order."""
    labels: LabelIndex
    label_sets: tuple[Truth, ...]
    """One an annotator; an empty row where it did not judge the document."""
    judged: NDArray[np.bool_]
    """(annotators, documents)."""

    def ratings(self) -> Ratings:
        """What coefficients of agreement need of them."""
        given: Any = sum(labels.astype(np.int64) for labels in self.label_sets)
        return Ratings(self.judged.sum(axis=0, dtype=np.int64), given.tocsr(), len(self.names))

    def missing(self, annotator: int) -> list[str]:
        """The documents that others judged and this one did not."""
        return [self.documents[row] for row in np.flatnonzero(~self.judged[annotator])]


def match(
    files: Sequence[Iterable[TestDocument]],
    names: Sequence[str],
    *,
    unlabelled: str = "keep",
) -> Annotations:
    """The files' documents matched by id where every one has an id, else by their order.

    `unlabelled` says what a document without labels means: `keep`, none applies; `drop`, the
    annotator did not judge it.
    """
    read = [[(one.id, frozenset(one.labels)) for one in documents] for documents in files]
    if not all(read):
        raise InvalidDataError("there are no documents to compare")
    has_ids = all(identity is not None for entries in read for identity, _ in entries)
    if has_ids:
        found = [_by_id(entries, name) for entries, name in zip(read, names, strict=True)]
    else:
        found = _by_order(read, names)
    if unlabelled == "drop":
        found = [{key: labels for key, labels in one.items() if labels} for one in found]
    return _aligned(found, names, "id" if has_ids else "order")


def _by_id(entries: list[tuple[Any, frozenset[str]]], name: str) -> LabelsById:
    labels = dict(entries)
    if len(labels) < len(entries):
        twice = Counter(identity for identity, _ in entries).most_common(1)[0][0]
        raise InvalidDataError(
            "an id that occurs twice", file=name, found=twice, accepted="one document an id"
        )
    return labels


def _by_order(
    read: list[list[tuple[str | None, frozenset[str]]]], names: Sequence[str]
) -> list[LabelsById]:
    sizes = [len(entries) for entries in read]
    if len(set(sizes)) > 1:
        listed = " and ".join(str(size) for size in sizes)
        raise InvalidDataError(
            f"the files have {listed} documents ({', '.join(names)})",
            accepted="ids in all files, or equally many documents in the same order",
        )
    return [{str(n): labels for n, (_, labels) in enumerate(one, start=1)} for one in read]


def _aligned(found: list[LabelsById], names: Sequence[str], matched_by: str) -> Annotations:
    documents = tuple(dict.fromkeys(key for one in found for key in one))
    labels = LabelIndex.of(labels for one in found for labels in one.values())
    return Annotations(
        tuple(names),
        matched_by,
        documents,
        labels,
        tuple(labels.truth(one.get(key, ()) for key in documents) for one in found),
        np.array([[key in one for key in documents] for one in found], np.bool_),
    )
