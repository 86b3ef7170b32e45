"""Collection: a whole data set in memory, as training needs it."""

from collections import Counter
from collections.abc import Sequence
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
from app.datasets.order_values import ranks
from app.datasets.reading import Reading, open_data
from app.errors import InvalidDataError, InvalidRequestError
from app.progress import Progress, silent

STEP = 1000


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
    progress: Progress = silent,
) -> Collection:
    """All documents of a data set; labels with too few documents are removed and counted.

    Corrections come first, file after file: what they leave without a label is dropped where the
    options say so.
    """
    options = options or ReadOptions()
    keeps_all = replace(options, unlabelled="keep")
    reading = open_data(source, keeps_all if corrections else options)
    documents: list[Record] = []
    digest = DocumentHash()
    for document in reading:
        documents.append(document)
        digest.add(document)
        if len(documents) % STEP == 0:
            progress("read", len(documents), 0)
    progress("read", len(documents), len(documents))
    if not documents:
        raise _nothing(reading)
    if reading.is_ready_made:
        contents = _rows(documents)
    else:
        contents = [document.text for document in documents]
    label_sets = [document.labels for document in documents]
    ids = [document.id for document in documents]
    found = replace(reading.summary, documents_sha256=digest.hexdigest())
    collection = Collection(
        *(contents, label_sets, ids, found, reading.is_ready_made),
        lines=np.array([document.line for document in documents], np.int64),
    )
    if options.order_column:
        values = [document.order for document in documents if document.order is not None]
        collection = replace(collection, ranks=ranks(values))
    for file in corrections:
        collection = _corrected(collection, file)
    if corrections and options.unlabelled == "drop":
        collection = _without_unlabelled(collection)
    return _without_rare(collection, min_label_documents, options.unlabelled)


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
        documents = [collection.documents[row] for row in rows]
    label_sets = [collection.label_sets[row] for row in rows]
    ids = [collection.ids[row] for row in rows]
    summary = _counted(collection.summary, label_sets)
    order = None if collection.ranks is None else collection.ranks[rows]
    lines = None if collection.lines is None else collection.lines[rows]
    return Collection(documents, label_sets, ids, summary, collection.is_ready_made, order, lines)


def _rows(documents: list[Record]) -> Any:
    """The ready-made features as one csr_array, as wide as the largest column in it."""
    pairs = [document.features for document in documents if document.features is not None]
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
