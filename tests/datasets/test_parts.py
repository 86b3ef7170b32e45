"""Data sets in several files: globs, folders of parts and URLs give what one file gives."""

import gzip
import http.server
import json
import threading
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import fsspec
import pyarrow
import pyarrow.parquet
import pytest

from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection
from app.datasets.reading import open_data, open_dataset
from app.errors import InvalidDataError
from tests.conftest import write_corpus

N_DOCUMENTS, N_PARTS = 130, 64
PARQUET = ReadOptions(format="parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same documents as one file, as 64 Parquet files, as JSON lines, some compressed."""
    root = tmp_path_factory.mktemp("parts")
    one = write_corpus(root / "one.jsonl", N_DOCUMENTS)
    lines = one.read_bytes().splitlines(keepends=True)
    (root / "lines").mkdir()
    (root / "table" / "day=1").mkdir(parents=True)
    bounds = [N_DOCUMENTS * number // N_PARTS for number in range(N_PARTS + 1)]
    for number, (first, end) in enumerate(pairwise(bounds)):
        part = b"".join(lines[first:end])
        is_packed = number % 2
        name = root / "lines" / f"part-{number:02}.jsonl{'.gz' if is_packed else ''}"
        name.write_bytes(gzip.compress(part) if is_packed else part)
        rows = [json.loads(line) for line in lines[first:end]]
        below = root / "table" / ("day=1" if number < 30 else ".") / f"part-{number:02}.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), below)
    (root / "table" / "_SUCCESS").write_text("")
    return root


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The URL of the same folder on a web server of our own."""
    handler = partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("lines/*", ReadOptions()),
        ("lines/part-[0-9]?.json*", ReadOptions()),
        ("lines", ReadOptions(format="jsonl")),
        ("table", PARQUET),
        ("table/**/*.parquet", ReadOptions()),
    ],
)
def test_parts_have_the_hash_and_the_lines_of_one_file(
    folder: Path, data: str, options: ReadOptions
) -> None:
    one, parts = load_collection(folder / "one.jsonl"), load_collection(f"{folder}/{data}", options)
    assert parts.ids == one.ids
    assert (parts.documents, parts.label_sets) == (one.documents, one.label_sets)
    assert parts.summary.documents_sha256 == one.summary.documents_sha256
    assert parts.lines is not None
    assert parts.lines.tolist() == list(range(1, N_DOCUMENTS + 1))


def test_a_compressed_file_has_the_hash_of_the_plain_one(folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress((folder / "one.jsonl").read_bytes()))
    hashes = {load_collection(file).summary.documents_sha256 for file in (packed, str(packed))}
    assert hashes == {load_collection(folder / "one.jsonl").summary.documents_sha256}


@pytest.mark.parametrize("change", ["id", "text", "labels", "order", "boundary"])
def test_the_hash_differs_where_a_document_does(tmp_path: Path, change: str) -> None:
    rows = [{"id": "1", "text": "ab", "labels": ["x"]}, {"id": "2", "text": "c", "labels": ["y"]}]
    changed = json.loads(json.dumps(rows))
    if change == "order":
        changed.reverse()
    elif change == "boundary":
        changed[0] |= {"id": "1x", "labels": [], "text": "ab"}
    else:
        changed[1][change] = ["x"] if change == "labels" else "d"
    hashes = []
    for number, content in enumerate((rows, changed)):
        file = tmp_path / f"{number}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in content))
        hashes.append(load_collection(file).summary.documents_sha256)
    assert hashes[0] != hashes[1]


def test_a_web_address_is_read_as_the_file_is(folder: Path, served: str) -> None:
    remote, local = open_data(f"{served}/one.jsonl"), open_dataset(folder / "one.jsonl")
    assert list(remote) == list(local)
    assert remote.summary == local.summary


@pytest.mark.parametrize("name", ["lines/*.jsonl", "lines/"])
def test_a_store_is_read_as_the_folder_is(folder: Path, name: str) -> None:
    memory = fsspec.filesystem("memory")
    for file in sorted((folder / "lines").glob("*.jsonl")):
        memory.pipe(f"/corpus/lines/{file.name}", file.read_bytes())
    memory.pipe("/corpus/lines/_SUCCESS", b"not data")
    options = ReadOptions(format="jsonl")
    remote = open_data(f"memory://corpus/{name}", options)
    assert list(remote) == list(open_data(f"{folder}/lines/*.jsonl", options))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{folder}/none-*.jsonl", "none-*.jsonl: no file is there"),
        ("memory://nothing.jsonl", "memory://nothing.jsonl: cannot be read"),
        ("nosuch://a/b.jsonl", "nosuch://a/b.jsonl: cannot be read: Protocol not known: nosuch"),
    ],
)
def test_what_is_not_there_is_named(folder: Path, data: str, words: str) -> None:
    with pytest.raises(InvalidDataError) as refused:
        list(open_data(data.format(folder=folder)))
    assert words in str(refused.value)


def test_a_bad_record_is_told_by_its_own_file_and_line(tmp_path: Path) -> None:
    good = '{"text": "a", "labels": ["x"]}\n'
    (tmp_path / "1.jsonl").write_text(good * 3)
    (tmp_path / "2.jsonl").write_text(good + "{broken\n" + good)
    with pytest.raises(InvalidDataError, match=r"2\.jsonl:2:") as refused:
        list(open_data(f"{tmp_path}/*.jsonl"))
    assert refused.value.file == str(tmp_path / "2.jsonl")
    reading = open_data(f"{tmp_path}/*.jsonl", ReadOptions(on_error="skip"))
    assert [record.line for record in reading] == [1, 2, 3, 4, 6]
    (fault,) = reading.summary.skipped_lines
    assert fault.line == 2
    assert fault.problem.startswith(f"{tmp_path}/2.jsonl: ")


def test_the_separator_of_the_first_part_holds_for_all(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("text,labels\na,x;y\nb,y;z\n")
    (tmp_path / "2.csv").write_text('text,labels\nc,"Doe, John;x"\n')
    reading = open_data(f"{tmp_path}/*.csv")
    assert [record.labels for record in reading][-1] == ("Doe, John", "x")
    assert reading.summary.label_separator == ";"


def test_cells_below_other_columns_are_refused_where_they_are_kept(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("text,note\na,1\n")
    (tmp_path / "2.csv").write_text("note,text\n1,a\n")
    options = ReadOptions(labels="ignored", keeps_cells=True)
    with pytest.raises(InvalidDataError, match=r"2\.csv:1:1: other columns than in the"):
        list(open_data(f"{tmp_path}/*.csv", options))


def test_a_name_with_a_bracket_is_a_file_where_there_is_one(tmp_path: Path) -> None:
    write_corpus(tmp_path / "data[1].jsonl", 3)
    assert len(list(open_data(f"{tmp_path}/data[1].jsonl"))) == 3


def test_the_service_reads_no_globs(tmp_path: Path) -> None:
    write_corpus(tmp_path / "a.jsonl", 3)
    with pytest.raises(InvalidDataError, match="cannot be opened"):
        open_dataset(f"{tmp_path}/*.jsonl")
