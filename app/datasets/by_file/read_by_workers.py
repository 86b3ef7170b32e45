"""ReadByWorkers: a data set whose files workers read, as it would have been read here."""

from array import array
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.datasets.base import ReadOptions, Summary
from app.datasets.by_file.file_documents import FileDocuments
from app.datasets.by_file.file_reading import FileReading
from app.datasets.by_file.in_order import in_order
from app.datasets.by_file.part_summary import PartSummary, whole_summary
from app.datasets.collection import Collection, no_documents
from app.datasets.document_hash import documents_sha256
from app.datasets.order_values import OrderValue, ranks
from app.engine import Engine
from app.progress import Progress
from app.resources.stored_texts import StoredTexts, TextGroup


@dataclass(slots=True)
class JoinedFiles:
    """The documents of all files so far, in their order."""

    label_sets: list[tuple[str, ...]] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    order: list[OrderValue] = field(default_factory=list)
    groups: list[TextGroup] = field(default_factory=list)
    _read: list[PartSummary] = field(default_factory=list)
    _lines: list[NDArray[np.int64]] = field(default_factory=list)
    _fingerprints: list[NDArray[np.uint64]] = field(default_factory=list)
    _last_line: int = 0
    _digests: bytearray = field(default_factory=bytearray)
    _found_ids: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, file: FileDocuments) -> None:
        """Take one more file; its lines count on from those of the files before it."""
        self._lines.append(file.lines + self._last_line)
        self._last_line += file.summary.last_line
        self.label_sets += file.label_sets
        self.ids += file.ids
        self.order += file.order
        self.groups += file.groups
        self._read.append(file.summary)
        self._fingerprints.append(file.fingerprints)
        self._digests += file.digests
        self._found_ids.extend(map(hash, file.found_ids))

    @property
    def summary(self) -> Summary:
        """What was found in all files."""
        found = np.frombuffer(self._found_ids, np.int64)
        return replace(
            whole_summary(self._read),
            duplicate_ids=len(found) - len(np.unique(found)),
            documents_sha256=documents_sha256(self._digests),
        )

    def collection(self, engine: Engine, *, has_order: bool) -> Collection:
        """All documents; their texts stay with the engine."""
        return Collection(
            StoredTexts(self.groups, engine.open),
            self.label_sets,
            self.ids,
            self.summary,
            ranks=ranks(self.order) if has_order else None,
            lines=np.concatenate(self._lines),
            fingerprints=np.concatenate(self._fingerprints),
        )


@dataclass(frozen=True, slots=True)
class ReadByWorkers:
    """Reads a data set of several files of texts by the workers of an engine."""

    engine: Engine
    data: str

    def __call__(self, options: ReadOptions, progress: Progress) -> Collection | None:
        """All documents; None where it is one file, or has no texts."""
        reading = FileReading.of(self.data, options)
        if reading is None:
            return None
        joined = JoinedFiles()
        for file in in_order(self.engine, reading, FileDocuments.from_arrays, _separator):
            joined.add(file)
            progress("read", len(joined.label_sets), 0)
        if not joined.label_sets:
            raise no_documents(self.data, joined.summary)
        progress("read", len(joined.label_sets), len(joined.label_sets))
        return joined.collection(self.engine, has_order=bool(options.order_column))


def _separator(file: FileDocuments) -> str:
    return file.summary.label_separator
