"""One small corpus in every format of the catalogue."""

import gzip
import io
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from openpyxl import Workbook

from app.datasets.base import ReadOptions, Record
from app.datasets.reading import open_dataset

CORPUS = [
    ("a1", ("corn", "wheat"), "corn and wheat rise\tsharply"),
    ("a2", ("earn",), "Erträge: 3 % — «gut»"),
    ("a3", (), "nothing known"),
    ("a4", ("wheat",), ""),
]


def tsv() -> bytes:
    return "".join(f"{i}\t{' '.join(labels)}\t{text}\n" for i, labels, text in CORPUS).encode()


def jsonl() -> bytes:
    records = [{"id": i, "text": text, "labels": labels} for i, labels, text in CORPUS]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def json_array() -> bytes:
    records = [{"id": i, "text": text, "labels": labels} for i, labels, text in CORPUS]
    return json.dumps(records, indent=1, ensure_ascii=False).encode()


def csv() -> bytes:
    rows = [f'{i},"{text}",{"|".join(labels)}\n' for i, labels, text in CORPUS]
    return ("id,text,labels\n" + "".join(rows)).encode()


def parquet() -> bytes:
    columns = zip(*CORPUS, strict=True)
    table = pa.table(dict(zip(["id", "labels", "text"], map(list, columns), strict=True)))
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def workbook(rows: Iterable[Sequence[object]], sheet: str = "Sheet1") -> bytes:
    book = Workbook()
    page = book.active
    assert page is not None
    page.title = sheet
    for row in rows:
        page.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@cache
def xlsx() -> bytes:
    """Once, since a workbook holds the time of its making."""
    rows = [(i, text, "|".join(labels)) for i, labels, text in CORPUS]
    return workbook([("id", "text", "labels"), *rows])


def svmlight() -> bytes:
    return b"corn,wheat 1:0.5 3:2\nearn 2:1e-3\n 1:1 2:1\nwheat\n"


SAMPLES: dict[str, Callable[[], bytes]] = {
    "tsv": tsv,
    "jsonl": jsonl,
    "json": json_array,
    "csv": csv,
    "xlsx": xlsx,
    "parquet": parquet,
    "svmlight": svmlight,
}
SUFFIX = {"tsv": ".txt", "jsonl": ".jsonl", "csv": ".csv", "parquet": ".parquet"}
SUFFIX |= {"svmlight": ".svm", "json": ".json", "xlsx": ".xlsx"}
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


def read(data: bytes, **options: object) -> list[Record]:
    return list(open_dataset(io.BytesIO(data), ReadOptions(**options)))  # type: ignore[arg-type]
