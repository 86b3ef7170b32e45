"""From files to documents. Catalogue of the formats by name; each reader loads on first use."""

from pathlib import Path
from typing import BinaryIO

from app.catalogue import find
from app.datasets.base import Reader, ReadOptions, Record, Summary
from app.datasets.formats.detection import format_of
from app.datasets.input.limits import Limits
from app.datasets.input.source import Source
from app.datasets.reading import Reading
from app.errors import AppError, InvalidRequestError

__all__ = ["FORMATS", "Limits", "ReadOptions", "Reading", "Record", "Summary", "open_dataset"]

FORMATS = {
    "tsv": "app.datasets.formats.tsv:documents",
    "jsonl": "app.datasets.formats.jsonl:documents",
    "csv": "app.datasets.formats.csv:documents",
    "parquet": "app.datasets.formats.parquet:documents",
    "svmlight": "app.datasets.formats.svmlight:documents",
    "folder": "app.datasets.formats.folder:documents",
}
TABLES = "csv, parquet"


def open_dataset(source: str | Path | BinaryIO, options: ReadOptions | None = None) -> Reading:
    """The documents of a file, a folder, a binary stream or standard input (`-`), as a stream.

    Compression is recognised by content. A stream that is given stays open.
    """
    options = options or ReadOptions()
    opened = Source(source, options.limits)
    try:
        format = format_of(opened) if options.format == "auto" else options.format
        reader: Reader = find(FORMATS, format, "format")
        if options.label_columns and format not in TABLES.split(", "):
            raise InvalidRequestError(f"label columns are not for {format}; accepted: {TABLES}")
    except AppError:
        opened.close()
        raise
    return Reading(opened, format, reader, options)
