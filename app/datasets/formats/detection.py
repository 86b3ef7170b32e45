"""Which format a source has: by its suffix, else by its content."""

import re
from pathlib import PurePath

from app.datasets.input.compression import SUFFIXES as COMPRESSIONS
from app.datasets.input.encoding import head_text
from app.datasets.input.source import Source
from app.errors import InvalidDataError

SUFFIXES = {
    ".txt": "tsv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
}
PARQUET = b"PAR1"
XMC_HEADER = re.compile(r"\d+ \d+ \d+\s*")
SVMLIGHT = re.compile(r"([^\s:]*+|\d++:\S++)( ++\d++:[-+.\deE]++)++\s*+")
ACCEPTED = "tsv, jsonl, csv, parquet, svmlight or folder: name it with --format"


def format_of(source: Source) -> str:
    """A name of the catalogue.

    >>> from io import BytesIO
    >>> from app.datasets.input.limits import Limits
    >>> format_of(Source(BytesIO(b'{"text": "a"}'), Limits()))
    'jsonl'
    """
    if source.is_folder:
        return "folder"
    return _by_suffix(source.name) or _by_content(source)


def _by_suffix(name: str) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _by_content(source: Source) -> str:
    if source.head.startswith(PARQUET):
        return "parquet"
    filled = (line for line in head_text(source).split("\n") if line.strip())
    line = next(filled, "")
    if not line or line.lstrip().startswith("{"):
        return "jsonl"
    if XMC_HEADER.fullmatch(line) or SVMLIGHT.fullmatch(line):
        return "svmlight"
    if "\t" in line:
        return "tsv"
    if "," in line or ";" in line:
        return "csv"
    problem = "the format cannot be told from the first line"
    raise InvalidDataError(problem, file=source.name, line=1, column=1, accepted=ACCEPTED)
