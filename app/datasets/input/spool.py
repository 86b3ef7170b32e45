"""A source as a temporary file, for formats that are read from their end."""

from typing import IO

from app.datasets.faults import Faults
from app.datasets.input.source import Source
from app.errors import InvalidDataError

IN_MEMORY = 16 << 20
"""Bytes up to which no file is written."""


def fill(spool: IO[bytes], source: Source, faults: Faults) -> None:
    """Copy all bytes of a source, and go back to the start."""
    try:
        for piece in source.chunks():
            spool.write(piece)
    except InvalidDataError as error:
        raise faults.fatal(error.problem, line=1) from error
    spool.seek(0)
