"""Data sets: a file, or texts beside their labels, as training and evaluation take them."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import BinaryIO, TypeAlias, Unpack

from app.datasets.base import ReadOptions, Record, Summary
from app.datasets.collection import Collection, load_collection, split
from app.datasets.reading import open_data
from app.training.publish import documents_of
from labelserve.arguments import FilePath, ReadArguments, given, names_of
from labelserve.documents import LabelSets, LineStream, json_lines

COLUMNS = ("text_columns", "label_columns", "label_names")
JSON_LINES = ReadOptions(format="jsonl")


@dataclass(frozen=True, repr=False, eq=False)
class LabelledData:
    """A data set in memory: texts beside their labels and ids, and what reading them counted."""

    collection: Collection

    @property
    def texts(self) -> list[str]:
        """The texts; a ValueError where the file has ready-made features instead (svmlight)."""
        if self.collection.is_ready_made:
            raise ValueError("the data are ready-made features, without texts")
        texts: list[str] = self.collection.documents
        return texts

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The labels of each document."""
        return self.collection.label_sets

    @property
    def ids(self) -> list[str | None]:
        """The id of each document; None where the file has none."""
        return self.collection.ids

    @property
    def summary(self) -> Summary:
        """Documents, labels, pairs, empty texts, duplicate ids, skipped records …"""
        return self.collection.summary

    def split(self, share: float, *, seed: int = 0) -> "tuple[LabelledData, LabelledData]":
        """Training and test part, as `train --test 0.2` takes them: `share` is the test part's."""
        kept, aside = split(self.collection, share, seed)
        return LabelledData(kept), LabelledData(aside)

    def __len__(self) -> int:
        return len(self.collection)

    def __iter__(self) -> Iterator[Record]:
        """The documents one by one, each with `text`, `labels` and `id`."""
        return documents_of(self.collection)

    def __repr__(self) -> str:
        found = self.summary
        counts = f"{found.documents:,} documents, {found.labels:,} labels, {found.pairs:,} pairs"
        oddities = {
            "unlabelled": found.unlabelled,
            "empty texts": found.empty_texts,
            "skipped": found.skipped,
        }
        told = "".join(f", {count:,} {name}" for name, count in oddities.items() if count)
        return f"<data: {counts}{told}>"


Labelled: TypeAlias = FilePath | LabelledData | Iterable[str]
"""A file, a data set that was read, or texts, whose labels come as a second argument."""


def read(path: FilePath, **arguments: Unpack[ReadArguments]) -> LabelledData:
    """All documents of a file or folder, in any format that the commands read.

    Read by `format`, `text_columns`, `label_column`, `label_separator`, `label_columns`,
    `label_names`, `id_column`, `order_column`, `sheet`, `label_map`, `on_error`, `unlabelled` and
    `min_label_documents`.
    """
    asked = given(arguments, ReadArguments)
    least = asked.pop("min_label_documents", 1)
    columns = {name: names_of(asked[name], name) for name in COLUMNS if name in asked}
    options = ReadOptions(**{**asked, **columns})
    return LabelledData(load_collection(str(path), options, min_label_documents=least))


def labelled_data(data: Labelled, labels: LabelSets | None, asked: ReadArguments) -> LabelledData:
    """What was given, in memory; texts are read as a file of JSON lines would be."""
    if isinstance(data, LabelledData):
        _refuse_labels(labels)
        if "min_label_documents" in asked:
            raise TypeError("min_label_documents is an argument of read, where data were read")
        return data
    if isinstance(data, str | PathLike):
        _refuse_labels(labels)
        return read(data, **asked)
    least = asked.get("min_label_documents", 1)
    stream = _stream(data, labels)
    return LabelledData(load_collection(stream, JSON_LINES, min_label_documents=least))


def judged_documents(data: Labelled, labels: LabelSets | None) -> Iterable[Record]:
    """What was given, document by document, with a summary; a file is not read into memory."""
    if isinstance(data, LabelledData | str | PathLike):
        _refuse_labels(labels)
        return data if isinstance(data, LabelledData) else open_data(str(data))
    return open_data(_stream(data, labels), JSON_LINES)


def _stream(texts: Iterable[str], labels: LabelSets | None) -> BinaryIO:
    if labels is None:
        raise TypeError("texts need their labels: give a list of labels for each text")
    return io.BufferedReader(LineStream(json_lines(texts, labels)))


def _refuse_labels(labels: LabelSets | None) -> None:
    if labels is not None:
        raise TypeError("labels were given beside data that have labels of their own")
