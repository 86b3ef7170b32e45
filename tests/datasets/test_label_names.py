"""Names of label ids, from the files that hold them."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.datasets.cells.label_names import load_label_names
from app.errors import InvalidDataError
from tests.datasets.cases import read

NAMES = ("sport", "politics", "culture")
CLASS_LABEL = {"names": list(NAMES), "_type": "ClassLabel"}
FEATURES = {"text": {"dtype": "string", "_type": "Value"}, "label": CLASS_LABEL}
FILES = {
    "a name a line": "sport\npolitics\nculture\n",
    "a JSON list": json.dumps(NAMES),
    "dataset_info.json": json.dumps({"features": FEATURES, "splits": {}}),
    "dataset_infos.json": json.dumps({"default": {"features": FEATURES}}),
    "a sequence": json.dumps({"features": {"t": {"feature": CLASS_LABEL, "_type": "Sequence"}}}),
    "config.json": json.dumps({"id2label": dict(enumerate(NAMES)), "model_type": "bert"}),
}


@pytest.mark.parametrize("kind", FILES)
def test_label_names_are_read_from_every_kind_of_file(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "names"
    file.write_text("\ufeff" + FILES[kind], encoding="utf-8")
    assert load_label_names(file) == NAMES


def test_of_several_class_labels_that_of_the_label_column_counts(tmp_path: Path) -> None:
    file = tmp_path / "dataset_info.json"
    other = {"names": ["en", "de"], "_type": "ClassLabel"}
    file.write_text(json.dumps({"features": {**FEATURES, "language": other}}))
    assert load_label_names(file, "label") == NAMES
    with pytest.raises(InvalidDataError, match="no label names; accepted: a name a line"):
        load_label_names(file)


@pytest.mark.parametrize("content", [b"", b"[1, 2]", b"{", b"a\n\nb", b"\xff", b'{"a": 1}'])
def test_a_file_without_names_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "names").write_bytes(content)
    with pytest.raises(InvalidDataError, match="accepted: a name a line"):
        load_label_names(tmp_path / "names")


def test_ids_in_tables_become_names() -> None:
    data = b'text,label\na,2\nb,"0|1"\nc,"[0, 1, 1]"\n'
    options = {"format": "csv", "label_column": "label", "label_names": NAMES}
    found = [d.labels for d in read(data.replace(b'c,"[0, 1, 1]"\n', b""), **options)]
    assert found == [("culture",), ("sport", "politics")]
    lists = b'text,label\nc,"[0, 1, 1]"\nd,"[2]"\n'
    assert [d.labels for d in read(lists, **options)] == [("politics", "culture"), ("culture",)]


def parquet(labels: pa.Array, metadata: dict[bytes, bytes] | None = None) -> bytes:
    file = io.BytesIO()
    table = pa.table({"text": ["a", "b"], "label": labels}).replace_schema_metadata(metadata)
    pq.write_table(table, file)
    return file.getvalue()


def test_ids_in_parquet_become_names() -> None:
    options = {"label_column": "label", "label_names": NAMES}
    ids = read(parquet(pa.array([2, None])), **options)
    assert [d.labels for d in ids] == [("culture",), ()]
    lists = read(parquet(pa.array([[0, 2], []])), **options)
    assert [d.labels for d in lists] == [("sport", "culture"), ()]


def test_parquet_of_hugging_face_brings_its_names() -> None:
    metadata = {b"huggingface": json.dumps({"info": {"features": FEATURES}}).encode()}
    found = read(parquet(pa.array([2, 0]), metadata), label_column="label")
    assert [d.labels for d in found] == [("culture",), ("sport",)]
    with pytest.raises(InvalidDataError, match="of ids, with --label-names"):
        read(parquet(pa.array([2, 0])), label_column="label")
