"""CSV read while it arrives: the same documents as from a file."""

from collections import deque
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Refused, with_refused
from app.datasets.formats.csv_stream import CsvStream
from app.datasets.input.limits import Limits
from app.datasets.reading import open_dataset
from app.errors import AppError, InvalidDataError, PayloadTooLargeError

OPTIONS = ReadOptions(format="csv", labels="optional", on_error="skip", keeps_cells=True)
LINES = st.lists(st.text('"",;\r\n at\0', max_size=12), max_size=6)


def streamed(pieces: list[bytes], options: ReadOptions = OPTIONS) -> tuple[list[object], CsvStream]:
    stream = CsvStream(options)
    found = [row for piece in pieces for row in stream.feed(piece, is_last=False)]
    return [*found, *stream.feed(b"", is_last=True)], stream


def read(data: bytes) -> tuple[list[object], AppError | None]:
    """What the reader of files gives, until it ends or fails."""
    reading, found = open_dataset(BytesIO(data), OPTIONS), []
    try:
        for row in with_refused(reading, reading.refused):
            found.append(row)
    except InvalidDataError as error:
        return [*found, *(reading.refused or deque())], error
    return found, None


def told(rows: list[object]) -> list[object]:
    return [(str(row.error), row.cells) if isinstance(row, Refused) else row for row in rows]


@given(LINES, st.lists(st.integers(0, 80), max_size=5), st.sampled_from(["utf-8", "utf-16"]))
def test_the_documents_are_those_of_the_file_wherever_it_is_cut(
    lines: list[str], cuts: list[int], encoding: str
) -> None:
    data = "\n".join(["text,n", *lines]).encode(encoding)
    ends = sorted({0, *cuts, len(data)})
    pieces = [data[start:end] for start, end in pairwise(ends)]
    expected, error = read(data)
    found, stream = streamed(pieces)
    assert (stream.fatal is None) == (error is None)
    assert told(found) == told([*expected, *([Refused(error)] if error else [])])


def test_a_row_comes_as_soon_as_it_is_complete() -> None:
    stream = CsvStream(OPTIONS)
    assert stream.feed(b"\r\n\xef", is_last=False) == []
    stream = CsvStream(OPTIONS)
    assert stream.feed(b"id;te", is_last=False) == []
    assert stream.feed(b'xt\r\n1;"one\r\n', is_last=False) == []
    (record,) = stream.feed(b'two"\r\n2;t', is_last=False)
    assert isinstance(record, Record)
    assert (record.text, record.line, record.cells) == ("one\ntwo", 2, ["1", "one\r\ntwo"])
    assert (stream.layout.columns, stream.layout.line_end) == (("id", "text"), "\r\n")


def test_what_comes_before_the_end_of_a_broken_stream_is_not_lost() -> None:
    found, stream = streamed([b'text\nfirst\nsecond\n"open\n'])
    assert [row.text for row in found if isinstance(row, Record)] == ["first", "second"]
    assert isinstance(found[-1], Refused)
    assert found[-1].error is stream.fatal
    assert "does not end" in str(stream.fatal)


@pytest.mark.parametrize("data", [b"text\na\n" + b"b" * 200, b'text\na\n"' + b"b\n" * 100])
def test_a_row_that_never_ends_is_refused_before_it_fills_the_memory(data: bytes) -> None:
    options = ReadOptions(labels="optional", limits=Limits(max_line_bytes=50))
    stream = CsvStream(options)
    for position in range(len(data)):
        stream.feed(data[position : position + 1], is_last=False)
        if stream.fatal:
            break
    assert isinstance(stream.fatal, PayloadTooLargeError | InvalidDataError)
    assert position < 90
