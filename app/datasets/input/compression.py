"""gzip and Zstandard, recognised by their first bytes and inflated piece by piece."""

import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import zstandard

from app.datasets.input.limits import Limits
from app.errors import InvalidDataError, PayloadTooLargeError

PIECE = 1 << 20
ENOUGH = 1 << 16


class Codec(NamedTuple):
    """A compression: its suffix and first bytes, what inflates a member, how much it is fed.

    A decompressor gives all it has for its input (gzip up to 1,032 bytes for one, Zstandard
    128 KiB for four), so small feeds are what bounds the memory.
    """

    suffix: str
    magic: bytes
    member: Callable[[Limits], Any]
    feed: int
    errors: tuple[type[Exception], ...]
    """What the decompressor raises for damaged data."""


CODECS = (
    Codec(".gz", b"\x1f\x8b", lambda _: zlib.decompressobj(wbits=31), 1 << 11, (zlib.error,)),
    Codec(
        ".zst",
        b"\x28\xb5\x2f\xfd",
        lambda limits: _zstd(limits).decompressobj(),
        1 << 6,
        (zstandard.ZstdError,),
    ),
)
SUFFIXES = frozenset(codec.suffix for codec in CODECS)


def inflated(stream: BinaryIO, name: str, limits: Limits) -> Iterator[bytes]:
    """The bytes of a stream, decompressed if they are compressed, in pieces of bounded size.

    Several compressed members in a row are read as one. A stream that ends too early, fails its
    checksum or goes on with something else is an error.
    """
    first = _first(stream)
    codec = next((codec for codec in CODECS if first.startswith(codec.magic)), None)
    if codec is None:
        return _plain(first, stream)
    return _gathered(_members(codec, _plain(first, stream), name, limits))


def _zstd(limits: Limits) -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(max_window_size=limits.max_window)


def _first(stream: BinaryIO) -> bytes:
    """The first piece, long enough to recognise a format even if a pipe gives few bytes."""
    first = stream.read(PIECE)
    while 0 < len(first) < ENOUGH and (more := stream.read(PIECE)):
        first += more
    return first


def _plain(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    piece = first
    while piece:
        yield piece
        piece = stream.read(PIECE)


def _members(codec: Codec, pieces: Iterator[bytes], name: str, limits: Limits) -> Iterator[bytes]:
    member, taken, given = None, 0, 0
    for piece in _slices(pieces, codec.feed):
        taken += len(piece)
        # Zeros may pad the end of a member (tape blocks); anything else starts the next one.
        while rest := piece if member else piece.lstrip(b"\0"):
            member = member or codec.member(limits)
            try:
                output = member.decompress(rest)
            except codec.errors as error:
                raise InvalidDataError("damaged compressed data", file=name) from error
            given += len(output)
            if given > PIECE and given > (limits.max_ratio or math.inf) * taken:
                ratio = limits.max_ratio or math.inf
                raise PayloadTooLargeError("a compressed byte", ratio, "bytes of data in it")
            yield output
            if not member.eof:
                break
            piece, member = member.unused_data, None
    if member:
        raise InvalidDataError("the compressed data end too early", file=name)


def _slices(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of at least `PIECE`, but for the last."""
    held = bytearray()
    try:
        for piece in pieces:
            held += piece
            if len(held) >= PIECE:
                yield bytes(held)
                held.clear()
    except InvalidDataError:
        yield bytes(held)  # what came before the damage: the error then names the right line
        raise
    if held:
        yield bytes(held)
