"""Reading: the documents of a data set, once through, and what was counted on the way."""

import sys
from array import array
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.catalogue import find
from app.datasets import FORMATS
from app.datasets.base import Reader, ReadOptions, Record, Summary
from app.datasets.faults import Faults, Refused
from app.datasets.formats.detection import format_of
from app.datasets.input.part_files import PartFile, part_files
from app.datasets.input.source import Source
from app.datasets.parts import Parts, opened_part
from app.datasets.suspicions import suspicions
from app.errors import AppError, InvalidRequestError, PayloadTooLargeError

TABLES = "csv, parquet, xlsx"
WITH_COLUMNS = "csv, jsonl, parquet, json, xlsx"
FOR_WORKBOOKS = "save the workbook as CSV UTF-8; "


class Reading:
    """Iterable of documents, once through; `summary` is final when the iteration has ended.

    Memory does not grow with the texts: eight bytes are kept for each id, and the label names.
    """

    def __init__(self, source: Source, format: str, reader: Reader, options: ReadOptions) -> None:
        self.source, self.format, self.options = source, format, options
        self.refused: deque[Refused] | None = deque() if options.keeps_cells else None
        self._faults = Faults(source.name, options.on_error, kept=self.refused)
        # Called by the first step of the iteration, which closes the source whatever happens.
        readers = (reader(source, options, self._faults) for _ in range(1))
        self._documents = chain.from_iterable(readers)
        self._ids = array("q")
        self._labels: set[str] = set()
        self._most_documents = options.limits.max_documents or sys.maxsize
        self._most_labels = options.limits.max_labels or sys.maxsize
        self._found = self._dropped = self._pairs = self._empty = self._unlabelled = 0
        self.last_line = 0

    @property
    def is_ready_made(self) -> bool:
        """Whether the documents are feature rows instead of texts."""
        return self.format == "svmlight"

    @property
    def part(self) -> int:
        """The number of the file that the last document was in, of several."""
        return self._faults.part

    @property
    def reader_warnings(self) -> list[str]:
        """What the reader doubts in the cells of labels."""
        return self._faults.warnings

    @property
    def label_names(self) -> set[str]:
        """The labels met so far."""
        return self._labels

    def __iter__(self) -> Iterator[Record]:
        """The documents in their order."""
        count, keeps_all = self._count, self.options.unlabelled == "keep"
        try:
            for document in self._documents:
                count(document)
                if keeps_all or document.labels:
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
            label_separator=self._faults.label_separator,
            warnings=(*self._faults.warnings, *suspicions(self._labels, self._pairs)),
        )

    def _count(self, document: Record) -> None:
        self._found += 1
        self.last_line = document.line
        labels = document.labels
        if labels:
            self._pairs += len(labels)
            self._labels.update(labels)
        else:
            self._unlabelled += 1
        if document.id is not None:
            self._ids.append(hash(document.id))
        if document.features is None:
            self._empty += not document.text or document.text.isspace()
        else:
            self._empty += not len(document.features[0])
        if self._found > self._most_documents:
            raise PayloadTooLargeError("the data set", self._most_documents, "documents")
        if len(self._labels) > self._most_labels:
            raise PayloadTooLargeError("the data set", self._most_labels, "labels")


def open_dataset(source: str | Path | BinaryIO, options: ReadOptions | None = None) -> Reading:
    """The documents of a file, a folder, a binary stream or standard input (`-`), as a stream.

    Compression is recognised by content. A stream that is given stays open.
    """
    options = options or ReadOptions()
    return reading_of(Source(source, options.limits), options)


def open_data(data: str | Path | BinaryIO, options: ReadOptions | None = None) -> Reading:
    """The documents of what `open_dataset` reads, of a glob, a folder of parts or a URL.

    The service reads what it was sent, by `open_dataset`; this is for commands and programs.
    """
    options = options or ReadOptions()
    files = part_files(data, options.format) if isinstance(data, str) else None
    if files is None:
        return open_dataset(data, options)
    return open_parts(files, options, name=str(data))


def open_parts(files: list[PartFile], options: ReadOptions, *, name: str = "") -> Reading:
    """The documents of these files, one file after another."""
    if len(files) == 1:
        return reading_of(opened_part(files[0], options), options)
    return _in_parts(files, _with_format(files, options), name)


def options_of_parts(
    files: list[PartFile], options: ReadOptions
) -> tuple[ReadOptions, ReadOptions]:
    """How the first of several files is read on its own, and how the others are.

    What the first one tells holds for all, as in `Parts`: the format, and how labels are separated.
    """
    first = _with_format(files, options)
    reading = _in_parts(files[:1], first, "")
    documents = iter(reading)
    next(documents, None)
    separator = reading.summary.label_separator
    reading.source.close()
    return first, replace(first, label_separator=separator or first.label_separator)


def open_one_of_parts(file: PartFile, options: ReadOptions) -> Reading:
    """The documents of one of several files, whose format is given; its faults name it."""
    return _in_parts([file], options, file.name)


def _with_format(files: list[PartFile], options: ReadOptions) -> ReadOptions:
    if options.format != "auto":
        return options
    with closing(opened_part(files[0], options)) as first:
        return replace(options, format=format_of(first))


def _in_parts(files: list[PartFile], options: ReadOptions, name: str) -> Reading:
    reader = Parts(files, reader_of(options.format, options))
    return Reading(Source(None, options.limits, name=name), options.format, reader, options)


def reading_of(opened: Source, options: ReadOptions) -> Reading:
    """The documents of a source, which is closed where its format or the options refuse it."""
    try:
        format = format_of(opened) if options.format == "auto" else options.format
        return Reading(opened, format, reader_of(format, options), options)
    except AppError:
        opened.close()
        raise


def reader_of(format: str, options: ReadOptions) -> Reader:
    """What reads this format; an error where the options are not for it."""
    if options.formats and format not in options.formats:
        how = FOR_WORKBOOKS if format == "xlsx" else ""
        raise InvalidRequestError(f"{how}accepted formats: {', '.join(options.formats)}")
    reader: Reader = find(FORMATS, format, "format")
    if options.label_columns and format not in TABLES.split(", "):
        raise InvalidRequestError(f"label columns are not for {format}; accepted: {TABLES}")
    if options.order_column and format not in WITH_COLUMNS.split(", "):
        raise InvalidRequestError(
            f"{format} has no column to order documents by; accepted: {WITH_COLUMNS}, or the "
            "order of the documents in the data (--folds-by order)"
        )
    return reader
