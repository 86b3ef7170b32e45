"""Collection: a whole data set in memory, as training needs it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.datasets.base import ReadOptions, Summary
from app.datasets.corrections.application import DocumentLabels, corrected_labels
from app.datasets.corrections.correction import CorrectionsFile
from app.datasets.document_hash import documents_sha256
from app.datasets.order_values import ranks
from app.datasets.read_documents import ReadDocuments, ReadyMade
from app.datasets.reading import open_data
from app.errors import InvalidDataError, InvalidRequestError
from app.progress import Progress, silent
from app.resources.texts import kept_texts, texts_at


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
    fingerprints: NDArray[np.uint64] | None = None
    """Of each text, where whoever read it has made them; None: not made yet."""

    def __len__(self) -> int:
        return len(self.label_sets)


ReadElsewhere: TypeAlias = Callable[[ReadOptions, Progress], Collection | None]
"""Reads a data set with these options, not yet corrected; None where it cannot."""


def load_collection(  # noqa: PLR0913
    source: str | Path | BinaryIO,
    options: ReadOptions | None = None,
    *,
    min_label_documents: int = 1,
    corrections: Sequence[CorrectionsFile] = (),
    scratch: Path | None = None,
    elsewhere: ReadElsewhere | None = None,
    progress: Progress = silent,
) -> Collection:
    """All documents of a data set; labels with too few documents are removed and counted.

    Texts of a large one go to a temporary file in `scratch` (None: where the system has such).
    `elsewhere` may read the data instead.

    Corrections come first, file after file: what they leave without a label is dropped where the
    options say so.
    """
    options = options or ReadOptions()
    wanted = replace(options, unlabelled="keep") if corrections else options
    collection = elsewhere(wanted, progress) if elsewhere else None
    if collection is None:
        collection = _read(source, wanted, scratch, progress)
    for file in corrections:
        collection = _corrected(collection, file)
    if corrections and options.unlabelled == "drop":
        collection = _without_unlabelled(collection)
    return _without_rare(collection, min_label_documents, options.unlabelled)


def _read(
    source: str | Path | BinaryIO, options: ReadOptions, scratch: Path | None, progress: Progress
) -> Collection:
    reading = open_data(source, options)
    read = ReadDocuments(progress, has_order=bool(options.order_column))
    texts = kept_texts(read.texts(reading), scratch)
    if not read.label_sets:
        raise no_documents(reading.source.name, reading.summary)
    progress("read", len(read.label_sets), len(read.label_sets))
    return Collection(
        _rows(read.features) if reading.is_ready_made else texts,
        read.label_sets,
        read.ids,
        replace(reading.summary, documents_sha256=documents_sha256(read.digests)),
        reading.is_ready_made,
        None if read.order is None else ranks(read.order),
        np.frombuffer(read.lines, np.int64),
    )


def no_documents(name: str, found: Summary) -> InvalidDataError:
    """The error for a data set that nothing is left of."""
    left_out = f" ({found.skipped} skipped, {found.dropped} dropped)"
    problem = "no documents" + (left_out if found.skipped or found.dropped else "")
    return InvalidDataError(problem, file=name, line=1, column=1)


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
    marks = None if collection.fingerprints is None else collection.fingerprints[rows]
    about = (collection.is_ready_made, order, lines, marks)
    return Collection(documents, label_sets, ids, summary, *about)


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
