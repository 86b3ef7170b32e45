"""Reading: the documents of a data set, once through, and what was counted on the way."""

from array import array
from collections.abc import Iterator

import numpy as np

from app.datasets.base import Document, Reader, ReadOptions, Summary
from app.datasets.faults import Faults
from app.datasets.source import Source
from app.errors import PayloadTooLargeError


class Reading:
    """Iterable of documents, once through; `summary` is final when the iteration has ended.

    Memory does not grow with the texts: eight bytes are kept for each id, and the label names.
    """

    def __init__(self, source: Source, format: str, reader: Reader, options: ReadOptions) -> None:
        self.source, self.format, self.options = source, format, options
        self._faults = Faults(source.name, options.on_error)
        self._documents = reader(source, options, self._faults)
        self._ids = array("q")
        self._labels: set[str] = set()
        self._found = self._dropped = self._pairs = self._empty = self._unlabelled = 0

    @property
    def is_ready_made(self) -> bool:
        """Whether the documents are feature rows instead of texts."""
        return self.format == "svmlight"

    def __iter__(self) -> Iterator[Document]:
        """The documents in their order."""
        try:
            for document in self._documents:
                self._count(document)
                if document.labels or self.options.unlabelled == "keep":
                    yield document
                else:
                    self._dropped += 1
        finally:
            self.source.close()

    @property
    def summary(self) -> Summary:
        """What was counted so far."""
        distinct = len(np.unique(np.frombuffer(self._ids, dtype=np.int64)))
        return Summary(
            documents=self._found - self._dropped,
            labels=len(self._labels),
            pairs=self._pairs,
            empty_texts=self._empty,
            duplicate_ids=len(self._ids) - distinct,
            unlabelled=self._unlabelled,
            dropped=self._dropped,
            skipped=self._faults.skipped,
            skipped_lines=tuple(self._faults.listed),
            bytes=self.source.bytes,
            sha256=self.source.sha256,
        )

    def _count(self, document: Document) -> None:
        self._found += 1
        if document.labels:
            self._pairs += len(document.labels)
            self._labels.update(document.labels)
        else:
            self._unlabelled += 1
        if document.id is not None:
            self._ids.append(hash(document.id))
        if _is_empty(document):
            self._empty += 1
        self._check_limits()

    def _check_limits(self) -> None:
        limits = self.options.limits
        if limits.max_documents is not None and self._found > limits.max_documents:
            raise PayloadTooLargeError(f"more than {limits.max_documents} documents")
        if limits.max_labels is not None and len(self._labels) > limits.max_labels:
            raise PayloadTooLargeError(f"more than {limits.max_labels} different labels")


def _is_empty(document: Document) -> bool:
    if document.features is not None:
        return len(document.features[0]) == 0
    return not document.text or document.text.isspace()
