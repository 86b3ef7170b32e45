"""Documents in chunks small enough that their scores, and their texts, take little memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from app.errors import InvalidDataError

CELLS = 1_000_000
CHARACTERS = 1_000_000
DOCUMENTS = 2048


class TestDocument(Protocol):
    """What an evaluation reads of a document (see app/datasets/base.py)."""

    @property
    def id(self) -> str | None:
        """The id in the file, if any."""
        ...

    @property
    def text(self) -> str:
        """The text; empty for ready-made features."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The true labels."""
        ...

    @property
    def line(self) -> int:
        """The line that it begins on in the file."""
        ...

    @property
    def features(self) -> Any:
        """(columns, values) of ready-made features, else None."""
        ...


def chunks(
    documents: Iterable[TestDocument], n_labels: int, part: Callable[[], int] = int
) -> Iterator[tuple[int, list[TestDocument]]]:
    """Lists of documents, bounded by scores, characters and number; each with its file's number.

    `part` says which file the last document was of.
    """
    number = 0
    most = max(1, min(DOCUMENTS, CELLS // max(n_labels, 1)))
    chunk: list[TestDocument] = []
    characters = 0
    for document in documents:
        if part() != number:
            if chunk:
                yield number, chunk
            chunk, characters, number = [], 0, part()
        chunk.append(document)
        characters += length(document)
        if len(chunk) == most or characters >= CHARACTERS:
            yield number, chunk
            chunk, characters = [], 0
    if chunk:
        yield number, chunk


def length(document: TestDocument) -> int:
    """Characters of the text, or the number of ready-made features."""
    return len(document.text) if document.features is None else len(document.features[0])


class Reads(Protocol):
    """What a Scorer (app/evaluation/scorer.py) scores: texts, unless it says otherwise."""

    @property
    def reads_documents(self) -> bool:
        """Whether `scores` takes the test documents themselves, not their texts or features."""
        ...

    @property
    def is_ready_made(self) -> bool:
        """Whether `scores` takes rows of features, not texts."""
        ...

    @property
    def n_features(self) -> int:
        """The width of those rows."""
        ...


def inputs(chunk: list[TestDocument], scorer: Reads) -> Any:
    """What the scorer reads: texts, rows of features, or the documents themselves."""
    if scorer.reads_documents:
        return chunk
    if any((document.features is not None) != scorer.is_ready_made for document in chunk):
        wanted = "ready-made features (svmlight)" if scorer.is_ready_made else "texts"
        raise InvalidDataError(f"the model reads {wanted}, which the test set does not have")
    if scorer.is_ready_made:
        return feature_rows(chunk, scorer.n_features)
    return [document.text for document in chunk]


def feature_rows(chunk: list[TestDocument], n_features: int) -> csr_array:
    """Ready-made features as a matrix; columns that the model does not know are left out."""
    rows = [document.features or (np.zeros(0, np.int32), np.zeros(0)) for document in chunk]
    known = [columns < n_features for columns, _ in rows]
    ends = np.cumsum([0, *(int(mask.sum()) for mask in known)])
    pairs = list(zip(rows, known, strict=True))
    columns = np.concatenate([row[0][mask] for row, mask in pairs]).astype(np.int32)
    values = np.concatenate([row[1][mask] for row, mask in pairs]).astype(np.float32)
    return csr_array((values, columns, ends), shape=(len(chunk), n_features))
