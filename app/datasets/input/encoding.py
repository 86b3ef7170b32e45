"""Byte order marks and UTF-16: every text reaches the readers as plain UTF-8."""

import codecs
from collections.abc import Iterator

from app.datasets.input.source import Source
from app.errors import InvalidDataError

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
SAMPLE = 1 << 12


def utf8_pieces(source: Source) -> Iterator[bytes]:
    """The bytes of a source without a byte order mark; UTF-16 turned into UTF-8."""
    encoding, mark = encoding_of(source.head)
    pieces = _after(source.chunks(), len(mark))
    return pieces if encoding == "utf-8" else _transcoded(pieces, encoding)


def encoding_of(head: bytes) -> tuple[str, bytes]:
    """The encoding and the byte order mark to leave out.

    Without a mark it is UTF-16 if the zeros of ASCII characters stand on one side only.

    >>> encoding_of("name;städte".encode("utf-16-be"))
    ('utf-16-be', b'')
    """
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, mark
    high, low = head[0:SAMPLE:2].count(0), head[1:SAMPLE:2].count(0)
    enough = len(head[:SAMPLE]) // 4
    if low > enough and high == 0:
        return "utf-16-le", b""
    if high > enough and low == 0:
        return "utf-16-be", b""
    return "utf-8", b""


def head_text(source: Source) -> str:
    """The beginning of a source as text, for a first look: what cannot be decoded is replaced."""
    return text_of(source.head)


def text_of(head: bytes) -> str:
    """The same for bytes that were read elsewhere."""
    encoding, mark = encoding_of(head)
    return head[len(mark) :].decode(encoding, errors="replace")


def _after(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[count:]
        count = 0


def _transcoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"not {encoding.upper()}", accepted="UTF-8 or UTF-16") from error
