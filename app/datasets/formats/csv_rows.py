"""Rows of comma (or semicolon, or TAB) separated values, each with the line it begins on."""

import csv
import re
from collections.abc import Iterator

from app.datasets.faults import Faults
from app.datasets.input.lines import CR_LF, LF, lines
from app.datasets.input.source import Source

DELIMITERS = ",;\t"
QUOTED = re.compile(r'"[^"]*"')
TO_CLOSING_QUOTE = re.compile(r'(?:[^"]++|"")*+"')
CLOSED = "quotes that are closed and doubled inside a field"


def rows(
    source: Source, faults: Faults, delimiter: str, *, keeps_cells: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of its first line; blank lines are passed over.

    CR LF inside a cell becomes LF, unless cells are to be kept.

    A quoted field may hold delimiters, doubled quotes and line ends. One that never closes takes
    the rest of the file with it, so it is never skipped.
    """
    numbered = lines(source, faults, CR_LF if keeps_cells else LF)
    return parsed(numbered, faults, delimiter, source.limits.max_line_bytes)


def parsed(
    numbered: Iterator[tuple[int, str]], faults: Faults, delimiter: str, limit: int
) -> Iterator[tuple[int, list[str]]]:
    """The rows of numbered lines; a row has at most `limit` characters."""
    feed = _Feed(numbered, faults, limit)
    csv.field_size_limit(max(csv.field_size_limit(), limit))
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.first = feed.characters = 0
        try:
            row = next(reader, None)
        except csv.Error as error:
            if feed.is_at_end:
                raise feed.open_quote() from error
            column = _stray_quote(feed.line, delimiter)
            found = feed.line[column - 1 :].rstrip("\r")
            faults.add(
                "malformed CSV", line=feed.number, column=column, found=found, accepted=CLOSED
            )
            continue
        if row is None:
            return
        if row and not feed.has_lost_a_line:
            yield feed.first, row


def delimiter_of(line: str) -> str:
    """The delimiter that stands most often in a line outside quotes, `,` among equals.

    >>> delimiter_of('id;"a,b,c,d";text')
    ';'
    """
    bare = QUOTED.sub("", line)
    return max(DELIMITERS, key=bare.count)


def is_open_after(line: str, delimiter: str, *, is_open: bool = False) -> bool:
    """Whether a quoted field goes on in the next line, as the csv module reads it.

    `is_open`: whether one goes on in this line. A malformed line ends its row.

    >>> is_open_after('7,"said ""no"", and', ",")
    True
    """
    position = 0 if is_open else _first_quote(line, 0, delimiter)
    while position >= 0:
        closing = TO_CLOSING_QUOTE.match(line, position)
        if closing is None:
            return True
        if not line.startswith(delimiter, closing.end()):
            return False
        position = _first_quote(line, closing.end() + 1, delimiter)
    return False


def _first_quote(line: str, position: int, delimiter: str) -> int:
    """Behind the quote that opens the next quoted field; -1: no field is quoted any more."""
    while not line.startswith('"', position):
        end = line.find(delimiter, position)
        if end < 0 or "\r" in line[position:end]:
            return -1
        position = end + 1
    return position + 1


def _stray_quote(line: str, delimiter: str) -> int:
    """The column of the first character that a closing quote should not be followed by."""
    found = re.search(rf'[^"{delimiter}]"[^"{delimiter}]', line.rstrip("\r"))
    return found.end() if found else 1


class _Feed:
    """Lines for the csv module; knows where the row under way began and how long it is."""

    def __init__(self, numbered: Iterator[tuple[int, str]], faults: Faults, limit: int) -> None:
        self._lines, self._faults, self._limit = numbered, faults, limit
        self.first = self.number = self.characters = 0
        self.line, self.is_at_end, self._skipped = "", False, 0

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        try:
            self.number, self.line = next(self._lines)
        except StopIteration:
            self.is_at_end = True
            raise
        if not self.first:
            self.first, self._skipped = self.number, self._faults.skipped
        self.characters += len(self.line) + 1
        if self.characters > self._limit:
            raise self.open_quote()
        return self.line + "\n"

    @property
    def has_lost_a_line(self) -> bool:
        """Whether a line inside the row under way was refused: then the row is, too."""
        return self._faults.skipped > self._skipped

    def open_quote(self) -> Exception:
        """The error for a row that takes all that is left."""
        problem = "a quoted field that does not end"
        return self._faults.fatal(problem, line=self.first, accepted=CLOSED)
