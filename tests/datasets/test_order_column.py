"""The column that gives the documents' order: which formats have one, and what is refused."""

import io
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.datasets.base import ReadOptions
from app.datasets.collection import Collection, load_collection, subset
from app.errors import InvalidDataError, InvalidRequestError
from tests.datasets.cases import SAMPLES

CSV = b"text,labels,day\na,x,10\nb,y,9\nc,x,9\n"
JSONL = (
    b'{"text": "a", "day": 10}\n'
    b'{"text": "b", "labels": ["y"], "day": 9}\n\n'
    b'{"text": "c", "labels": ["x"], "day": "9.0"}\n'
)


def loaded(data: bytes, format: str, **options: Any) -> Collection:
    chosen = {"order_column": "day", **options}
    return load_collection(io.BytesIO(data), ReadOptions(format=format, **chosen))


def table(**columns: Any) -> bytes:
    file = io.BytesIO()
    texts = [f"text {i}" for i in range(len(columns["day"]))]
    pq.write_table(pa.table({"text": texts, "labels": texts, **columns}), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "format"), [(CSV, "csv"), (JSONL, "jsonl"), (table(day=[10, 9, 9]), "parquet")]
)
def test_numbers_are_ordered_as_numbers_and_equal_ones_share_a_rank(
    data: bytes, format: str
) -> None:
    assert loaded(data, format).ranks.tolist() == [1, 0, 0]


def test_dates_of_parquet_and_texts_are_ordered_in_iso_form() -> None:
    days = [date(2024, 5, 31), date(999, 1, 1), date(2023, 12, 1)]
    assert loaded(table(day=days), "parquet").ranks.tolist() == [2, 0, 1]
    written = [day.isoformat() for day in days]
    assert loaded(table(day=written), "parquet").ranks.tolist() == [2, 0, 1]


def test_whole_numbers_beyond_a_floats_precision_keep_their_order() -> None:
    assert loaded(table(day=[2**60 + 1, 2**60]), "parquet").ranks.tolist() == [1, 0]


def test_zero_is_a_value_and_several_text_columns_stay_texts() -> None:
    line = b'{"subject": "s", "body": "b", "day": 0}\n'
    collection = loaded(line, "jsonl", text_columns=("subject", "body"))
    assert (collection.documents, collection.ranks.tolist()) == (["s\nb"], [0])


@pytest.mark.parametrize("data", [b"id,text,labels\n2,a,x\n1,b,y\n", b'{"id":2,"text":"a"}\n'])
def test_the_id_may_give_the_order(data: bytes) -> None:
    format = "jsonl" if data.startswith(b"{") else "csv"
    collection = loaded(data, format, order_column="id")
    assert collection.ranks.tolist()[-1] == 0
    assert collection.ids[0] == "2"


@pytest.mark.parametrize(
    ("data", "format", "place", "problem"),
    [
        (CSV + b"d,x, \n", "csv", (5, 3), 'no value in the column "day"'),
        (JSONL + b'{"text": "d"}\n', "jsonl", (5, 1), 'no value of "day"'),
        (JSONL + b'{"text": "d", "day": ""}', "jsonl", (5, 22), 'no value of "day"'),
        (JSONL + b'{"text": "d", "day": [1]}', "jsonl", (5, 22), 'a wrong value of "day"'),
        (table(day=[1.5, None]), "parquet", (2, 3), 'no value in the column "day"'),
        (table(day=[1.5, float("nan")]), "parquet", (2, 3), 'no value in the column "day"'),
    ],
)
def test_a_document_without_a_value_is_refused_by_line_or_skipped(
    data: bytes, format: str, place: tuple[int, int], problem: str
) -> None:
    with pytest.raises(InvalidDataError) as refused:
        loaded(data, format)
    assert (refused.value.line, refused.value.column) == place
    assert problem in str(refused.value)
    assert "accepted: " in str(refused.value)
    kept = loaded(data, format, on_error="skip")
    assert kept.summary.skipped == 1
    assert len(kept.ranks) == len(kept)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_column_that_a_table_lacks_is_refused_by_name(format: str) -> None:
    with pytest.raises(InvalidDataError, match=r':1:1: no column "day".*folds-by'):
        loaded(SAMPLES[format](), format)


@pytest.mark.parametrize("format", ["tsv", "svmlight"])
def test_formats_without_columns_say_which_have_some(format: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"{format} has no column.* csv, jsonl, parquet"):
        loaded(SAMPLES[format](), format)


def test_neither_a_text_nor_a_label_column_gives_the_order() -> None:
    with pytest.raises(InvalidRequestError, match="neither text nor labels"):
        ReadOptions(order_column="labels")


def test_a_part_of_a_collection_keeps_its_ranks() -> None:
    part = subset(loaded(CSV, "csv"), [0, 2])
    np.testing.assert_array_equal(part.ranks, [1, 0])


def test_without_an_order_column_there_are_no_ranks() -> None:
    assert loaded(CSV, "csv", order_column="").ranks is None
