"""CSV that is read while it arrives: pieces of bytes in, documents out."""

import codecs
from collections import deque
from collections.abc import Iterator

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults, Refused, with_refused
from app.datasets.formats.csv import CsvTable, layout_of
from app.datasets.formats.csv_rows import is_open_after, parsed
from app.datasets.input.encoding import encoding_of, text_of
from app.datasets.input.lines import LineBlock, numbered, screened
from app.datasets.layout import TableLayout
from app.errors import AppError, InvalidDataError, PayloadTooLargeError

NAME = "data"
LONGEST_HEAD = 1 << 16
"""Bytes by which encoding and delimiter are told, where the first line is longer."""

NumberedLine = tuple[int, str]


class CsvStream:
    """The same documents as from a file of the same bytes, however these are cut into pieces.

    Cells are kept as they are, CR LF inside them, too.

    A record that cannot be read is a `Refused` in its place. `fatal` is set where all that follows
    cannot be read either: its error is the last thing that comes.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.layout = TableLayout()
        self.fatal: AppError | None = None
        self._options, self._limit = options, options.limits.max_line_bytes
        self._refused: deque[Refused] = deque()
        self._faults = Faults(NAME, "skip", kept=self._refused)
        self._lines: _Lines | None = None
        self._table = CsvTable(self.layout, options, self._faults)
        self._head = bytearray()
        self._waiting: list[NumberedLine | Refused] = []
        self._is_open, self._held = False, 0

    def feed(self, piece: bytes, *, is_last: bool) -> list[Record | Refused]:
        """The documents whose rows are complete with this piece."""
        found: list[Record | Refused] = []
        if self.fatal is not None:
            return found
        try:
            for document in with_refused(self._documents(piece, is_last), self._refused):
                found.append(document)
        except (InvalidDataError, PayloadTooLargeError) as error:
            self.fatal = error
            found += [*self._refused, Refused(error)]
        return found

    def _documents(self, piece: bytes, is_last: bool) -> Iterator[Record]:
        if self._lines is None:
            self._head += piece
            if not (is_last or _has_first_line(self._head, piece)):
                return
            piece = bytes(self._head)
            self._lines = self._begun(piece)
        complete = self._complete(self._lines.feed(piece, is_last), is_last)
        rows = parsed(self._taken(complete), self._faults, self.layout.delimiter, self._limit)
        yield from self._table.documents(rows)

    def _begun(self, head: bytes) -> "_Lines":
        """What reads the lines, once the first one tells encoding and layout."""
        found = layout_of(head)
        self.layout.delimiter, self.layout.line_end = found.delimiter, found.line_end
        self.layout.has_mark = found.has_mark
        self._head.clear()
        return _Lines(head, self._limit)

    def _complete(
        self, found: Iterator[NumberedLine | Refused], is_last: bool
    ) -> Iterator[NumberedLine | Refused]:
        """The lines up to the end of the last complete row; the others wait."""
        for line in found:
            self._waiting.append(line)
            if isinstance(line, tuple):
                self._held += len(line[1]) + 1
                self._is_open = is_open_after(line[1], self.layout.delimiter, is_open=self._is_open)
            if not self._is_open:
                yield from self._waiting
                self._waiting, self._held = [], 0
        if is_last or self._held > self._limit:  # an open quote, which the parser then says
            yield from self._waiting

    def _taken(self, complete: Iterator[NumberedLine | Refused]) -> Iterator[NumberedLine]:
        """The lines for the parser; those that are refused go to the faults in their place."""
        for line in complete:
            if isinstance(line, tuple):
                yield line
            elif isinstance(line.error, InvalidDataError):
                self._faults.take(line.error)


class _Lines:
    """Cuts pieces of bytes into numbered lines of text."""

    def __init__(self, head: bytes, limit: int) -> None:
        encoding, mark = encoding_of(head)
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding != "utf-8" else None
        self._encoding, self._left_out, self._limit = encoding, len(mark), limit
        self._rest, self._number = bytearray(), 1
        self._refused: deque[Refused] = deque()
        self._faults = Faults(NAME, "skip", kept=self._refused)

    def feed(self, piece: bytes, is_last: bool) -> Iterator[NumberedLine | Refused]:
        """The lines that are complete with this piece."""
        piece, self._left_out = piece[self._left_out :], 0
        piece = self._in_utf8(piece, is_last)
        end = piece.rfind(b"\n") + 1
        if end:
            whole = bytes(self._rest) + piece[:end]
            self._rest = bytearray()
            yield from self._numbered(whole[:-1])
        self._rest += piece[end:]
        if len(self._rest) > self._limit:
            raise PayloadTooLargeError("a line", self._limit, "bytes")
        if is_last and self._rest:
            yield from self._numbered(bytes(self._rest))

    def _in_utf8(self, piece: bytes, is_last: bool) -> bytes:
        if self._decoder is None:
            return piece
        try:
            return self._decoder.decode(piece, is_last).encode()
        except UnicodeDecodeError as error:
            raise InvalidDataError(
                f"not {self._encoding.upper()}",
                file=NAME,
                line=self._number,
                accepted="UTF-8 or UTF-16",
            ) from error

    def _numbered(self, data: bytes) -> Iterator[NumberedLine | Refused]:
        block = LineBlock(self._number, data)
        self._number += 1 + data.count(b"\n")
        clean = (
            line
            for part in screened(block, self._limit, self._faults)
            for line in numbered(part, self._faults)
        )
        return with_refused(clean, self._refused)


def _has_first_line(head: bytearray, piece: bytes) -> bool:
    """Whether enough has arrived, with this piece, to tell encoding and delimiter."""
    if len(head) > LONGEST_HEAD:
        return True
    return b"\n" in piece and "\n" in text_of(bytes(head)).lstrip("\r\n")
