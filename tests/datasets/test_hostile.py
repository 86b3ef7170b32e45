"""Whatever bytes come in: documents, or an error of ours that names the line."""

import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.datasets.base import ReadOptions, Record
from app.datasets.input.limits import Limits
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError
from tests.datasets.cases import COMPRESSED, SAMPLES

SPECIAL = b'\n\r\t\0"{}[],;:| 0123456789.-+eE\\u\xff\xfe\xed\xa0\x80\xef\xbb\xbf#abc\x1f\x8b'
MANGLED = st.lists(st.sampled_from([bytes([c]) for c in SPECIAL]), max_size=40).map(b"".join)


@st.composite
def damaged(draw: st.DrawFn, sample: bytes) -> bytes:
    """A right file with a few places overwritten, cut, or filled in."""
    data = sample
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 12)))
        data = data[:start] + draw(MANGLED) + data[end:]
    return data


def check(data: bytes, format: str) -> None:
    limits = Limits(max_line_bytes=1000, max_ratio=1000)
    for on_error in ("fail", "skip"):
        options = ReadOptions(format=format, on_error=on_error, limits=limits)  # type: ignore[arg-type]
        error = error_of(data, options)
        if error:
            assert error.line
            assert error.column != 0
            assert len(error.found) <= 40


def error_of(data: bytes, options: ReadOptions) -> InvalidDataError | None:
    try:
        reading = open_dataset(io.BytesIO(data), options)
        for document in reading:
            check_document(document)
    except InvalidDataError as error:
        return error
    assert reading.summary.skipped >= len(reading.summary.skipped_lines)
    return None


def check_document(document: Record) -> None:
    document.text.encode()
    assert len(set(document.labels)) == len(document.labels)
    assert all(label == label.strip() != "" for label in document.labels)
    assert document.id != ""


@pytest.mark.parametrize("format", ["auto", *SAMPLES])
@settings(max_examples=150, deadline=None)
@given(data=st.one_of(st.binary(max_size=200), MANGLED))
@example(data=b"\x1f\x8b")
@example(data=b"\x28\xb5\x2f\xfd\0\0")
@example(data=b"PAR1" + bytes(20) + b"PAR1")
@example(data=b'{"text": ' + b"[" * 900)
@example(data=b"1 2 3\n0 99999999999:1\n")
def test_arbitrary_bytes_give_documents_or_a_named_error(format: str, data: bytes) -> None:
    check(data, format)


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=60, deadline=None)
@given(draw=st.data())
def test_damaged_files_give_documents_or_a_named_error(
    format: str, compression: str, draw: st.DataObject
) -> None:
    sample = SAMPLES[format]()
    data = COMPRESSED[compression](draw.draw(damaged(sample)))
    check(data, format)
    check(draw.draw(damaged(COMPRESSED[compression](sample))), format)
