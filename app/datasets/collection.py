"""Collection: a whole data set in memory, as training needs it."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.datasets.base import ReadOptions, Record, Summary
from app.datasets.corrections.application import DocumentLabels, corrected_labels
from app.datasets.corrections.correction import CorrectionsFile
from app.datasets.document_hash import DocumentHash
from app.datasets.order_values import OrderValue, ranks
from app.datasets.reading import Reading, open_data
from app.errors import InvalidDataError, InvalidRequestError
from app.progress import Progress, silent
from app.resources.texts import kept_texts, texts_at

STEP = 1000
ReadyMade = tuple[NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True)
class Collection:
    """Documents beside their labels: `documents` are texts, or rows of a csr_array (svmlight)."""

    documents: Any
    label_sets: list[tuple[str, ...]]
    ids: list[str | None]
    summary: Summary
    is_ready_made: bool = False
    ranks: NDArray[np.int64] | None = None
    """Each document's place by the order column; equal where its values are."""
    lines: NDArray[np.int64] | None = None
    """The line of the file that each document begins on; None where they come from no file."""

    def __len__(self) -> int:
        return len(self.label_sets)


def load_collection(
    source: str | Path | BinaryIO,
    options: ReadOptions | None = None,
    *,
    min_label_documents: int = 1,
    corrections: Sequence[CorrectionsFile] = (),
    scratch: Path | None = None,
    progress: Progress = silent,
) -> Collection:
    """All documents of a data set; labels with too few documents are removed and counted.

    Texts of a large one go to a temporary file in `scratch` (None: where the system has such).

    Corrections come first, file after file: what they leave without a label is dropped where the
    options say so.
    """
    options = options or ReadOptions()
    keeps_all = replace(options, unlabelled="keep")
    reading = open_data(source, keeps_all if corrections else options)
    read = _ReadDocuments(progress)
    if options.order_column:
        read.order = []
    texts = kept_texts(read.texts(reading), scratch)
    if not read.label_sets:
        raise _nothing(reading)
    progress("read", len(read.label_sets), len(read.label_sets))
    collection = Collection(
        _rows(read.features) if reading.is_ready_made else texts,
        read.label_sets,
        read.ids,
        replace(reading.summary, documents_sha256=read.digest.hexdigest()),
        reading.is_ready_made,
        None if read.order is None else ranks(read.order),
        np.frombuffer(read.lines, np.int64),
    )
    for file in corrections:
        collection = _corrected(collection, file)
    if corrections and options.unlabelled == "drop":
        collection = _without_unlabelled(collection)
    return _without_rare(collection, min_label_documents, options.unlabelled)


class _ReadDocuments:
    """What is kept of the documents of a reading, beside their texts."""

    def __init__(self, progress: Progress) -> None:
        self.label_sets: list[tuple[str, ...]] = []
        self.ids: list[str | None] = []
        self.lines = array("q")
        self.order: list[OrderValue] | None = None
        self.features: list[ReadyMade] = []
        self.digest = DocumentHash()
        self._progress = progress

    def texts(self, documents: Iterable[Record]) -> Iterator[str]:
        """The texts one after another, while all else is taken."""
        for document in documents:
            self.label_sets.append(document.labels)
            self.ids.append(document.id)
            self.lines.append(document.line)
            self.digest.add(document)
            if self.order is not None and document.order is not None:
                self.order.append(document.order)
            if document.features is not None:
                self.features.append(document.features)
            if len(self.label_sets) % STEP == 0:
                self._progress("read", len(self.label_sets), 0)
            yield document.text


def _nothing(reading: Reading) -> InvalidDataError:
    found = reading.summary
    left_out = f" ({found.skipped} skipped, {found.dropped} dropped)"
    problem = "no documents" + (left_out if found.skipped or found.dropped else "")
    return InvalidDataError(problem, file=reading.source.name, line=1, column=1)


def split(collection: Collection, share: float, seed: int) -> tuple[Collection, Collection]:
    """Training and test part: `share` of the documents, drawn by the seed, are the test part."""
    if not 0 < share < 1 or len(collection) < 2:
        problem = "a share above 0 and below 1, of at least two documents"
        raise InvalidRequestError(f"the test share cannot be taken; accepted: {problem}")
    count = min(max(round(share * len(collection)), 1), len(collection) - 1)
    order = np.random.default_rng(seed).permutation(len(collection))
    return subset(collection, np.sort(order[count:])), subset(collection, np.sort(order[:count]))


def subset(collection: Collection, rows: Sequence[int] | NDArray[np.int64]) -> Collection:
    """The documents at these places, counted anew; the hash stays that of the whole file."""
    rows = [int(row) for row in rows]
    if collection.is_ready_made:
        documents = collection.documents[rows]
    else:
        documents = texts_at(collection.documents, rows)
    label_sets = [collection.label_sets[row] for row in rows]
    ids = [collection.ids[row] for row in rows]
    summary = _counted(collection.summary, label_sets)
    order = None if collection.ranks is None else collection.ranks[rows]
    lines = None if collection.lines is None else collection.lines[rows]
    return Collection(documents, label_sets, ids, summary, collection.is_ready_made, order, lines)


def _rows(pairs: list[ReadyMade]) -> Any:
    """The ready-made features as one csr_array, as wide as the largest column in it."""
    ends = np.cumsum([0, *(len(columns) for columns, _ in pairs)])
    columns = np.concatenate([columns for columns, _ in pairs])
    values = np.concatenate([values for _, values in pairs])
    width = int(columns.max(initial=-1)) + 1
    return csr_array((values, columns, ends), shape=(len(pairs), width))


def _without_rare(collection: Collection, least: int, unlabelled: str) -> Collection:
    """Without the labels that have fewer than `least` documents."""
    counts = Counter(label for labels in collection.label_sets for label in labels)
    rare = {label for label, count in counts.items() if count < least}
    if not rare:
        return collection
    kept = [tuple(one for one in labels if one not in rare) for labels in collection.label_sets]
    found = replace(
        _counted(collection.summary, kept),
        rare_labels=len(rare),
        rare_pairs=sum(counts[label] for label in rare),
    )
    cleaned = replace(collection, label_sets=kept, summary=found)
    return cleaned if unlabelled == "keep" else _without_unlabelled(cleaned)


def _without_unlabelled(collection: Collection) -> Collection:
    rows = [row for row, labels in enumerate(collection.label_sets) if labels]
    dropped = collection.summary.dropped + len(collection) - len(rows)
    part = subset(collection, rows)
    return replace(part, summary=replace(part.summary, unlabelled=dropped, dropped=dropped))


def _corrected(collection: Collection, file: CorrectionsFile) -> Collection:
    """With the labels that the corrections say, counted anew."""
    label_sets, counts = corrected_labels(
        DocumentLabels(
            collection.label_sets, collection.ids, collection.lines, collection.summary.sha256
        ),
        file,
    )
    before = collection.summary.corrections
    counts = counts if before is None else before.with_next(counts)
    summary = replace(_counted(collection.summary, label_sets), corrections=counts)
    return replace(collection, label_sets=label_sets, summary=summary)


def _counted(summary: Summary, label_sets: list[tuple[str, ...]]) -> Summary:
    return replace(
        summary,
        documents=len(label_sets),
        labels=len({label for labels in label_sets for label in labels}),
        pairs=sum(map(len, label_sets)),
        unlabelled=summary.dropped + sum(not labels for labels in label_sets),
    )
