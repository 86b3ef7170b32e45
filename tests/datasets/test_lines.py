"""Long lines and odd encodings, below every text format."""

import io
from collections.abc import Iterator

import pytest

from app.datasets.base import ReadOptions
from app.datasets.input.limits import Limits
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError
from tests.datasets.cases import read


class Endless(io.RawIOBase):
    """Bytes without a line end, and without an end: only a reader that stops comes back."""

    given = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.given += size
        return b"x" * size


def test_a_line_above_the_limit_is_refused_before_it_is_read_to_its_end() -> None:
    endless = Endless()
    options = ReadOptions(format="tsv", limits=Limits(max_line_bytes=4 << 20))
    with pytest.raises(InvalidDataError, match="1:4194305: a line longer than 4194304 bytes"):
        list(open_dataset(endless, options))  # type: ignore[arg-type]
    assert endless.given < 8 << 20


def pieces_of(size: int, data: bytes) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


class InPieces(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._pieces = pieces_of(size, data)

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 70_000])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_are_the_same_however_the_bytes_arrive(size: int, encoding: str) -> None:
    text = "a\tfirst ü\r\n" + "".join(f"b\t{'long ' * n}\n" for n in (1, 100)) + "c\tlast"
    texts = ["first ü", "long ", "long " * 100, "last"]
    if size == 70_000:
        text, texts = text * 1000, texts[:3] + ["lasta\tfirst ü", *texts[1:3]] * 999 + ["last"]
    found = open_dataset(InPieces(text.encode(encoding), size), ReadOptions(format="tsv"))  # type: ignore[arg-type]
    assert [document.text for document in found] == texts


def test_a_long_line_is_skipped_and_the_next_ones_keep_their_numbers() -> None:
    data = b"a\tx\nb\t" + b"y" * 3_000_000 + b"\nc\t" + b"z" * 50 + b"\nd\tw\n"
    limits = Limits(max_line_bytes=40)
    reading = open_dataset(
        io.BytesIO(data), ReadOptions(format="tsv", on_error="skip", limits=limits)
    )
    assert [document.line for document in reading] == [1, 4]
    assert [fault.line for fault in reading.summary.skipped_lines] == [2, 3]


@pytest.mark.parametrize("tail", [b"\x00\xd8a\x00", b"\x00"])
def test_broken_utf_16_is_an_error_with_the_line(tail: bytes) -> None:
    data = "a\tx\nb\ty\n".encode("utf-16") + tail
    with pytest.raises(
        InvalidDataError, match="not UTF-16-LE; accepted: UTF-8 or UTF-16"
    ) as caught:
        read(data, format="tsv")
    assert caught.value.line is not None
