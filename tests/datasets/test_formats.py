"""The contract that every format of the catalogue keeps."""

import gzip
import hashlib
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard

from app.datasets import FORMATS
from app.datasets.base import ReadOptions, Summary
from app.datasets.input.limits import Limits
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError, InvalidRequestError, PayloadTooLargeError
from tests.datasets.cases import COMPRESSED, CORPUS, SAMPLES, SUFFIX, read


def test_every_file_format_of_the_catalogue_has_a_sample() -> None:
    assert set(SAMPLES) | {"folder"} == set(FORMATS)


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize("format", SAMPLES)
def test_the_same_documents_come_out_of_every_format(
    format: str, compression: str, tmp_path: Path
) -> None:
    data = SAMPLES[format]()
    file = tmp_path / f"corpus{SUFFIX[format]}{compression}"
    file.write_bytes(COMPRESSED[compression](data))
    reading = open_dataset(file)
    documents = list(reading)
    assert reading.format == format
    assert [document.labels for document in documents] == [labels for _, labels, _ in CORPUS]
    if not reading.is_ready_made:
        assert [(d.id, d.text) for d in documents] == [(i, text) for i, _, text in CORPUS]
    assert reading.summary == Summary(
        documents=4,
        labels=3,
        pairs=4,
        empty_texts=1,
        unlabelled=1,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        label_separator="|" if format in ("csv", "xlsx") else "",
    )


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize("format", SAMPLES)
def test_the_format_of_a_stream_without_a_name_is_told_by_its_content(
    format: str, compression: str
) -> None:
    reading = open_dataset(io.BytesIO(COMPRESSED[compression](SAMPLES[format]())))
    assert reading.format == format
    assert len(list(reading)) == 4


@pytest.mark.parametrize("format", SAMPLES)
def test_members_in_a_row_are_one_file(format: str) -> None:
    data = SAMPLES[format]()
    for compress in (COMPRESSED[".gz"], COMPRESSED[".zst"]):
        halves = compress(data[:20]) + compress(data[20:])
        assert len(read(halves, format=format)) == 4


def test_zeros_may_pad_a_compressed_file() -> None:
    assert len(read(gzip.compress(SAMPLES["tsv"]()) + bytes(500), format="tsv")) == 4


@pytest.mark.parametrize("compression", [".gz", ".zst"])
@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("damage", ["cut", "checksum", "garbage"])
def test_damaged_compressed_data_are_an_error_with_file_and_line(
    format: str, compression: str, damage: str, tmp_path: Path
) -> None:
    data = bytearray(COMPRESSED[compression](SAMPLES[format]()))
    if damage == "cut":
        del data[-9:]
    elif damage == "checksum":
        data[-1 if compression == ".zst" else -5] ^= 1
    else:
        data += b"and more"
    file = tmp_path / f"corpus{SUFFIX[format]}{compression}"
    file.write_bytes(data)
    with pytest.raises(InvalidDataError, match="compressed data") as caught:
        list(open_dataset(file, ReadOptions(on_error="skip")))
    assert caught.value.file == str(file)
    assert caught.value.line is not None


@pytest.mark.parametrize("format", ["tsv", "jsonl", "json", "csv", "svmlight"])
def test_a_text_format_reads_the_same_in_utf_16_with_a_mark_and_with_crlf(format: str) -> None:
    text = SAMPLES[format]().decode()
    expected = [(d.text, d.labels, d.id) for d in read(text.encode(), format=format)]
    variants = {
        "mark": b"\xef\xbb\xbf" + text.encode(),
        "utf-16-le": b"\xff\xfe" + text.encode("utf-16-le"),
        "utf-16-be": b"\xfe\xff" + text.encode("utf-16-be"),
        "utf-16 without a mark": text.encode("utf-16-le"),
        "utf-16-be without a mark": text.encode("utf-16-be"),
        "crlf": text.replace("\n", "\r\n").encode(),
        "no last line end": text.removesuffix("\n").encode(),
        "blank line at the end": text.encode() + b"\n",
    }
    for name, data in variants.items():
        found = [(d.text, d.labels, d.id) for d in read(data, format=format)]
        assert found == expected, name


@pytest.mark.parametrize("format", SAMPLES)
def test_an_empty_file_has_no_documents_or_says_what_is_missing(format: str) -> None:
    if format in ("parquet", "xlsx"):
        with pytest.raises(InvalidDataError, match=r"no readable (Parquet|Excel)"):
            read(b"", format=format)
    else:
        assert read(b"", format=format) == []


@pytest.mark.parametrize("format", SAMPLES)
def test_unlabelled_documents_can_be_dropped_and_are_still_counted(format: str) -> None:
    options = ReadOptions(format=format, unlabelled="drop")
    reading = open_dataset(io.BytesIO(SAMPLES[format]()), options)
    assert all(document.labels for document in reading)
    summary = reading.summary
    assert (summary.documents, summary.unlabelled, summary.dropped) == (3, 1, 1)


@pytest.mark.parametrize("format", SAMPLES)
def test_labels_are_renamed_and_dropped_by_the_map(format: str) -> None:
    documents = read(SAMPLES[format](), format=format, label_map={"corn": "wheat", "earn": ""})
    assert [document.labels for document in documents] == [("wheat",), (), (), ("wheat",)]


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize(
    "limits", [Limits(max_bytes=30), Limits(max_documents=3), Limits(max_labels=2)]
)
def test_limits_hold_in_every_format(format: str, limits: Limits) -> None:
    with pytest.raises(PayloadTooLargeError):
        read(SAMPLES[format](), format=format, limits=limits)


@pytest.mark.parametrize("format", SAMPLES)
def test_a_data_set_that_just_meets_its_limits_is_read(format: str) -> None:
    data = SAMPLES[format]()
    limits = Limits(max_bytes=len(data), max_documents=4, max_labels=3)
    assert len(read(data, format=format, limits=limits)) == 4


def test_a_small_file_may_be_compressed_more_than_a_large_one() -> None:
    data = b"a\t" + b"x" * 100_000 + b"\n"
    assert len(read(gzip.compress(data), format="tsv", limits=Limits(max_ratio=10))) == 1


def test_compressed_data_that_ask_for_too_much_memory_are_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=22)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = stream.compress(SAMPLES["tsv"]()) + stream.flush()
    assert len(read(data, format="tsv")) == 4
    with pytest.raises(InvalidDataError, match="compressed data"):
        read(data, format="tsv", limits=Limits(max_window=1 << 20))


def test_a_text_of_white_space_counts_as_empty() -> None:
    reading = open_dataset(io.BytesIO(b"a\t \na\tx\n"), ReadOptions(format="tsv"))
    assert len(list(reading)) == 2
    assert reading.summary.empty_texts == 1


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.tsv", "tsv"),
        ("a.ndjson", "jsonl"),
        ("a.json", "json"),
        ("A.CSV", "csv"),
        ("a.svmlight", "svmlight"),
    ],
)
def test_a_suffix_names_the_format_before_the_content_does(
    name: str, format: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("a\tb\n" if format != "tsv" else "a,b\n")
    reading = open_dataset(tmp_path / name)
    reading.source.close()
    assert reading.format == format


def test_a_stream_that_was_given_stays_open() -> None:
    stream = io.BytesIO(SAMPLES["tsv"]())
    assert len(list(open_dataset(stream))) == 4
    assert not stream.closed


def test_standard_input_is_read_as_a_stream() -> None:
    code = (
        "from app.datasets.reading import open_dataset\n"
        "reading = open_dataset('-')\n"
        "assert len(list(reading)) == 4\n"
        "assert reading.source.name == 'standard input'\n"
    )
    data = gzip.compress(SAMPLES["jsonl"]())
    subprocess.run([sys.executable, "-c", code], input=data, check=True)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(
        InvalidDataError, match=r"no-such-file\.txt: cannot be opened: No such file"
    ):
        open_dataset("no-such-file.txt")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidRequestError, match="csv, folder, json, jsonl, parquet, svmlight, tsv, xlsx"
    ):
        read(b"", format="xml")


def test_content_that_tells_no_format_is_refused() -> None:
    with pytest.raises(InvalidDataError, match="--format"):
        read(b"just a sentence\n")


@pytest.mark.parametrize(
    "options",
    [
        {"text_columns": ()},
        {"text_columns": ("a", "a")},
        {"label_separator": ""},
        {"on_error": "ignore"},
        {"unlabelled": "x"},
        {"label_columns": ("a",), "format": "jsonl"},
        {"text_columns": ('a"b',), "format": "jsonl"},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidRequestError):
        read(b"{}", **options)


def test_sources_are_read_in_bounded_memory() -> None:
    """Ten megabytes a line, and a bomb of 256 MiB that is refused within its first pieces."""
    import tracemalloc

    bomb = gzip.compress(bytes(256 << 20))
    tracemalloc.start()
    with pytest.raises(PayloadTooLargeError):
        read(bomb, format="tsv", limits=Limits(max_ratio=100))
    with pytest.raises(InvalidDataError, match="a line longer than 1000000 bytes"):
        read(bomb, format="tsv", limits=Limits(max_line_bytes=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 << 20
    long = b"a\t" + b"word " * 2_000_000
    assert len(read(long, format="tsv")[0].text) == 10_000_000


def test_features_are_int32_and_float32() -> None:
    features = read(SAMPLES["svmlight"](), format="svmlight")[0].features
    assert features is not None
    assert features[0].dtype == np.int32
    assert features[1].dtype == np.float32
