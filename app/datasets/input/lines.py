"""Lines of a source in UTF-8, many at a time, whatever its encoding and line ends."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from app.datasets.faults import Faults
from app.datasets.input.encoding import utf8_pieces
from app.datasets.input.source import Source
from app.errors import InvalidDataError

LF, CR_LF = b"\n", b"\r\n"
UTF8 = "UTF-8 text (in Excel: save as CSV UTF-8)"


class LineBlock(NamedTuple):
    """Whole lines joined by line feeds, the last one without; `first` is the first one's number."""

    first: int
    data: bytes


def blocks(source: Source, faults: Faults, line_end: bytes = LF) -> Iterator[LineBlock]:
    """All lines of a source: without a byte order mark, in UTF-8, CR LF turned into `line_end`.

    A line above the limit is refused before the rest of it is read, and so is a NUL byte: both
    are signs of a file that is something else.
    """
    number, limit = 1, source.limits.max_line_bytes
    try:
        for data in _whole_lines(utf8_pieces(source), limit, line_end):
            if data is None:
                _refuse_long(number, limit, faults)
            else:
                yield from screened(LineBlock(number, data), limit, faults)
            number += 1 + (data or b"").count(b"\n")
    except InvalidDataError as error:
        if error.line is not None:
            raise
        raise faults.fatal(error.problem, line=number, accepted=error.accepted) from error


def lines(source: Source, faults: Faults, line_end: bytes = LF) -> Iterator[tuple[int, str]]:
    """Each line with its number; lines that are not UTF-8 go to `faults`.

    With CR LF as line end, lines keep the CR of theirs.
    """
    return chain.from_iterable(line_groups(source, faults, line_end))


def line_groups(
    source: Source, faults: Faults, line_end: bytes = LF
) -> Iterator[Iterable[tuple[int, str]]]:
    """The same lines, as many together as were read at once: about a mebibyte, or one long line."""
    for block in blocks(source, faults, line_end):
        yield numbered(block, faults)


def numbered(block: LineBlock, faults: Faults) -> Iterable[tuple[int, str]]:
    """The lines of a block with their numbers; those that are not UTF-8 go to `faults`."""
    try:
        return enumerate(block.data.decode().split("\n"), block.first)
    except UnicodeDecodeError:
        return _decoded_lines(block, faults)


def _decoded_lines(block: LineBlock, faults: Faults) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(block.data.split(b"\n"), block.first):
        text = decoded(line, number, faults)
        if text is not None:
            yield number, text


def decoded(line: bytes, number: int, faults: Faults) -> str | None:
    """The line as text; None after a fault if it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        found = ascii(line[error.start : error.end])[2:-1]
        faults.add("not UTF-8", line=number, column=column, found=found, accepted=UTF8)
        return None


def _whole_lines(pieces: Iterator[bytes], limit: int, line_end: bytes) -> Iterator[bytes | None]:
    """Blocks of whole lines; None in the place of a line that is dropped for its length."""
    held: list[bytes] = []
    size, is_dropping = 0, False
    for piece in pieces:
        if is_dropping:
            _, line_feed, piece = piece.partition(b"\n")
            is_dropping = not line_feed
        end = 0 if is_dropping else piece.rfind(b"\n") + 1
        if end:
            yield b"".join((*held, piece[:end])).replace(CR_LF, line_end)[:-1]
            held, size = [], 0
        if not is_dropping and len(piece) > end:
            held.append(piece[end:])
            size += len(piece) - end
        if size > limit:
            yield None
            held, size, is_dropping = [], 0, True
    if held:
        yield b"".join(held)


def screened(block: LineBlock, limit: int, faults: Faults) -> Iterator[LineBlock]:
    """The block, or its lines one by one, where some are refused for their length or a NUL byte."""
    if len(block.data) <= limit and b"\0" not in block.data:
        yield block
        return
    for number, line in enumerate(block.data.split(b"\n"), block.first):
        if len(line) > limit:
            _refuse_long(number, limit, faults)
        elif b"\0" in line:
            column = len(line[: line.index(b"\0")].decode(errors="replace")) + 1
            faults.add("a NUL byte", line=number, column=column, accepted="UTF-8 text")
        else:
            yield LineBlock(number, line)


def _refuse_long(number: int, limit: int, faults: Faults) -> None:
    problem = f"a line longer than {limit} bytes"
    faults.add(problem, line=number, column=limit + 1, accepted="shorter lines")
