"""Predictions file by file in a folder: where each goes, and which are there already."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from app.artifacts.folders import whole_file
from app.datasets.base import ReadOptions
from app.datasets.input.compression import SUFFIXES as COMPRESSIONS
from app.datasets.input.part_files import PartFile
from app.errors import InvalidRequestError
from app.prediction.query import Query
from app.prediction.tables import WRITERS

ABOUT = "_predictions.json"
"""What the files of a folder are predictions of; the underscore keeps it from being a part."""
OTHERWISE = ".jsonl"
"""The format of predictions about files whose own format is not written."""


class Partition(NamedTuple):
    """One file of the data, and the file of its predictions."""

    file: PartFile
    output: Path

    @property
    def is_done(self) -> bool:
        """Whether the predictions are there, and newer than the file that they are about.

        They appear whole or not at all, so one that is there is complete.
        """
        if not self.output.is_file():
            return False
        return self.file.changed is None or self.file.changed <= self.output.stat().st_mtime


def partitions(files: list[PartFile], folder: Path) -> list[Partition]:
    """Each file with its place in the folder; two that would share one are refused."""
    found = [Partition(file, folder / output_name(file.inner)) for file in files]
    name, count = Counter(each.output for each in found).most_common(1)[0]
    if count > 1:
        raise InvalidRequestError(
            f"{count} of the files would be written to {name}; give files whose names differ "
            "before their suffix"
        )
    return found


def output_name(inner: str) -> str:
    """The file's own name and format, without compression; JSON lines for other formats.

    >>> output_name("day=1/a.parquet"), output_name("b.csv.gz"), output_name("c.tsv")
    ('day=1/a.parquet', 'b.csv', 'c.jsonl')
    """
    path = PurePosixPath(inner)
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    return str(path if path.suffix.lower() in WRITERS else path.with_suffix(OTHERWISE))


def claim(folder: Path, model: str, query: Query, reading: ReadOptions) -> None:
    """Note in the folder what its files are predictions of; refuse one that holds others.

    Otherwise a rerun with another model would skip what the first one had finished.
    """
    asked = {"model": model, "query": query._asdict(), "reading": asdict(reading)}
    about: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(asked))
    file = folder / ABOUT
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        with whole_file(file) as written:
            written.write(msgspec.json.format(msgspec.json.encode(about)) + b"\n")
        return
    before = msgspec.json.decode(file.read_bytes())
    if before == about:
        return
    differing = "" if before.get("model") != about["model"] else " with other options"
    raise InvalidRequestError(
        f"{folder} holds predictions of {before.get('model')}{differing}; accepted: "
        f"an empty folder, or the same model and options again (see {file})"
    )
