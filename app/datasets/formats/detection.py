"""Which format a source has: by its suffix, else by its content."""

import re
from pathlib import PurePath

from app.datasets import FORMATS
from app.datasets.input.compression import SUFFIXES as COMPRESSIONS
from app.datasets.input.encoding import head_text
from app.datasets.input.source import Source
from app.errors import InvalidDataError

SUFFIXES = {
    ".txt": "tsv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
}
MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "xlsx"}
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
JSON_ARRAY = re.compile(r"\s*\[\s*(\{|\]|$)")
XMC_HEADER = re.compile(r"\d+ \d+ \d+\s*")
SVMLIGHT = re.compile(r"([^\s:]*+|\d++:\S++)( ++\d++:[-+.\deE]++)++\s*+")
ACCEPTED = f"{', '.join(FORMATS)}: name it with --format"
SAVE_AS = "save it as CSV UTF-8, or as .xlsx without a password"


def format_of(source: Source) -> str:
    """A name of the catalogue.

    >>> from io import BytesIO
    >>> from app.datasets.input.limits import Limits
    >>> format_of(Source(BytesIO(b'{"text": "a"}'), Limits()))
    'jsonl'
    """
    if source.is_folder:
        return "folder"
    if source.head.startswith(OLD_EXCEL):
        problem = "an Excel file of before 2007, or one with a password"
        raise InvalidDataError(problem, file=source.name, line=1, accepted=SAVE_AS)
    return _by_suffix(source.name) or _by_content(source)


def _by_suffix(name: str) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _by_content(source: Source) -> str:
    for magic, format in MAGIC.items():
        if source.head.startswith(magic):
            return format
    text = head_text(source)
    if JSON_ARRAY.match(text):
        return "json"
    filled = (line for line in text.split("\n") if line.strip())
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
