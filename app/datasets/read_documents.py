"""ReadDocuments: what is kept of the documents of a reading, beside their texts."""

from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from app.datasets.base import Record
from app.datasets.document_hash import document_digest
from app.datasets.order_values import OrderValue
from app.progress import Progress

STEP = 1000
ReadyMade = tuple[NDArray[np.int32], NDArray[np.float32]]


class ReadDocuments:
    """Filled while the texts are taken."""

    def __init__(self, progress: Progress, *, has_order: bool) -> None:
        self.label_sets: list[tuple[str, ...]] = []
        self.ids: list[str | None] = []
        self.lines = array("q")
        self.order: list[OrderValue] | None = [] if has_order else None
        self.features: list[ReadyMade] = []
        self.digests = bytearray()
        self._progress = progress

    def texts(self, documents: Iterable[Record]) -> Iterator[str]:
        """The texts one after another, while all else is taken."""
        for document in documents:
            self.label_sets.append(document.labels)
            self.ids.append(document.id)
            self.lines.append(document.line)
            self.digests += document_digest(document)
            if self.order is not None and document.order is not None:
                self.order.append(document.order)
            if document.features is not None:
                self.features.append(document.features)
            if len(self.label_sets) % STEP == 0:
                self._progress("read", len(self.label_sets), 0)
            yield document.text
