"""Parquet tables, and what happens without the extra."""

import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.errors import InvalidDataError
from tests.datasets.cases import read


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def test_labels_are_lists_or_strings_with_separators() -> None:
    lists = parquet(text=["x", "y", None], labels=[["a b", "c"], None, []], id=[1, 2, None])
    found = [(d.text, d.labels, d.id) for d in read(lists)]
    assert found == [("x", ("a b", "c"), "1"), ("y", (), "2"), ("", (), None)]
    (document,) = read(parquet(text=["x"], labels=["a b|c"]))
    assert document.labels == ("a b", "c")


def test_columns_of_marks_may_be_booleans_or_numbers() -> None:
    data = parquet(text=["x", "y"], a=[True, False], b=[0, 1], c=[1.0, None])
    documents = read(data, label_columns=("a", "b", "c"))
    assert [document.labels for document in documents] == [("a", "c"), ("b",)]


def test_dictionary_columns_and_many_batches_are_read() -> None:
    texts = pa.array([f"text {n % 7}" for n in range(5000)]).dictionary_encode()
    documents = read(parquet(text=texts, labels=["a"] * 5000))
    assert [document.line for document in documents] == list(range(1, 5001))
    assert documents[-1].text == f"text {4999 % 7}"


def test_text_that_is_not_utf_8_is_a_fault_of_its_row() -> None:
    raw = pa.array([b"x", b"\xff", b"z"]).view(pa.string())
    data = parquet(text=raw, labels=["a", "b", "c"])
    with pytest.raises(InvalidDataError, match="2:1: an unreadable value; accepted: UTF-8 text"):
        read(data)
    assert [document.line for document in read(data, on_error="skip")] == [1, 3]


@pytest.mark.parametrize(
    "columns",
    [
        {"text": [1], "labels": ["a"]},
        {"text": ["x"], "labels": [1]},
        {"text": ["x"], "labels": [[1]]},
        {"text": ["x"], "labels": [None]},
    ],
)
def test_columns_of_other_types_are_refused(columns: dict[str, list[object]]) -> None:
    with pytest.raises(InvalidDataError, match="holds no text; accepted: a column of strings"):
        read(parquet(**columns))


def test_other_columns_are_never_read() -> None:
    raw = pa.array([b"\xff"]).view(pa.string())
    (document,) = read(parquet(other=raw, text=["x"], more=[1], labels=["a"]))
    assert (document.text, document.labels) == ("x", ("a",))


def test_without_pyarrow_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from app.datasets.reading import open_dataset\n"
        "from app.errors import MissingExtraError\n"
        "import io\n"
        "try:\n    open_dataset(io.BytesIO(b'PAR1'))\n"
        "except MissingExtraError as error:\n    assert '[parquet]' in str(error)\n"
        "else:\n    raise SystemExit(1)\n"
        "assert len(list(open_dataset(io.BytesIO(b'a\\tx')))) == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
