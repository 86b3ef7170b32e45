"""Files read by workers are the data set that is read in one go, whatever is wrong in them."""

import json
import random
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from app.datasets.base import ReadOptions
from app.datasets.by_file import file_documents
from app.datasets.by_file.file_documents import FileDocuments
from app.datasets.by_file.file_reading import FileReading
from app.datasets.by_file.read_by_workers import ReadByWorkers
from app.datasets.collection import Collection, load_collection, subset
from app.datasets.corrections.file import load_corrections
from app.datasets.input.part_files import FilePlace, weights_of
from app.errors import InvalidDataError
from app.resources import texts as texts_module
from app.resources.stored_texts import PackedTexts, StoredTexts, packed_group, stored_groups
from app.vectorizers.workers.shared_groups import shared_groups, texts_of
from tests.engines.inline_engine import InlineEngine

WORDS = ["wheat", "wörd", "日本", "½", "interest rate", "", "a\nb"]


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many groups of many chunks, as a large data set has."""
    monkeypatch.setattr(file_documents, "GROUP", 300)
    monkeypatch.setattr(texts_module, "CHUNK", 70)


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Documents with and without ids and labels, some twice, some broken; one file is empty."""
    pick = random.Random(5)
    (tmp_path / "in").mkdir()
    for number in range(4):
        lines = []
        for row in range(30):
            document: dict[str, Any] = {"text": " ".join(pick.choices(WORDS, k=pick.randrange(9)))}
            document["labels"] = pick.sample([f"l{n}" for n in range(9)], pick.choice([0, 1, 3]))
            document["when"] = pick.choice([row, f"{row}.5", -1e300, 2**60 + row])
            if pick.random() < 0.7:
                document["id"] = f"ü{pick.randrange(50)}"
            lines.append(json.dumps(document))
        lines.insert(pick.randrange(30), "{broken")
        (tmp_path / "in" / f"{number}.jsonl").write_text("\n".join(lines) + "\n" * number)
    (tmp_path / "in" / "2b.jsonl").write_text("\n")
    return tmp_path


def both(
    data: str, options: ReadOptions, folder: Path, **how: Any
) -> tuple[Collection, Collection]:
    """The data set read here, and by workers."""
    elsewhere = ReadByWorkers(InlineEngine(folder / "shared"), data)
    return (
        load_collection(data, options, **how),
        load_collection(data, options, elsewhere=elsewhere, **how),
    )


def assert_same(here: Collection, there: Collection) -> None:
    for field in fields(Collection):
        own, other = getattr(here, field.name), getattr(there, field.name)
        if field.name == "fingerprints":
            continue  # nobody has made them here
        if field.name == "documents" or isinstance(own, np.ndarray):
            own, other = list(own), list(other)
        assert own == other, field.name


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize(
    "options",
    [
        ReadOptions(),
        ReadOptions(unlabelled="drop"),
        ReadOptions(order_column="when"),
        ReadOptions(label_map={"l1": "new", "l2": ""}, unlabelled="drop"),
    ],
    ids=["all", "labelled", "ordered", "mapped"],
)
@pytest.mark.parametrize("least", [1, 35])
def test_workers_read_what_is_read_in_one_go(options: ReadOptions, least: int, parts: Path) -> None:
    options = replace(options, on_error="skip")
    here, there = both(f"{parts}/in/*.jsonl", options, parts, min_label_documents=least)
    assert isinstance(there.documents, StoredTexts | texts_module.TextRows)
    assert here.summary.skipped == 4
    assert_same(here, there)
    from app.datasets.fingerprint import fingerprints

    assert there.fingerprints is not None
    assert list(there.fingerprints) == list(fingerprints(here.documents))


@pytest.mark.usefixtures("small_groups")
def test_corrections_find_the_documents_by_the_lines_of_all_files(parts: Path) -> None:
    options = ReadOptions(on_error="skip", unlabelled="drop")
    data = f"{parts}/in/*.jsonl"
    lines = load_collection(data, options).lines
    assert lines is not None
    rows = [["line", "label", "decision"], [str(lines[50]), "l1", "take"]]
    (parts / "fix.csv").write_text("\n".join(map(",".join, rows)))
    here, there = both(data, options, parts, corrections=[load_corrections(parts / "fix.csv")])
    assert_same(here, there)


@pytest.mark.parametrize(
    "cells", [["a; b", "c; a", "b"], ["a", "c; a", "a, b", "b"], ["a", "b", "c"]]
)
def test_cells_are_separated_as_in_the_first_file_that_tells(
    cells: list[str], tmp_path: Path
) -> None:
    for number, cell in enumerate(cells):
        cell = f'"{cell}"' if "," in cell else cell
        rows = "".join(f"text {row},{cell}\n" for row in range(30))
        (tmp_path / f"{number}.csv").write_text(f"text,labels\n{rows}")
    here, there = both(f"{tmp_path}/*.csv", ReadOptions(), tmp_path)
    assert_same(here, there)


def test_the_first_bad_file_is_named_as_it_is_in_one_go(parts: Path) -> None:
    said = []
    for elsewhere in (None, ReadByWorkers(InlineEngine(parts / "shared"), f"{parts}/in/*.jsonl")):
        with pytest.raises(InvalidDataError) as refused:
            load_collection(f"{parts}/in/*.jsonl", elsewhere=elsewhere)
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert "in/0.jsonl:" in said[0]


def test_files_weigh_their_bytes_where_all_are_known() -> None:
    files = [FilePlace(name, name, name, size, None) for name, size in (("a", 3), ("b", 0))]
    reading = FileReading(files, ReadOptions(), ReadOptions())
    assert reading.weights([(1,), (0,)]) == [1.0, 3.0]
    assert weights_of([*files, FilePlace("c", "c", "c", None, None)]) == [1.0] * 3


def test_an_order_of_booleans_is_one_of_workers_too(tmp_path: Path) -> None:
    for number in range(2):
        rows = [{"text": "a", "labels": ["x"], "when": row % 2 == number} for row in range(4)]
        table = pyarrow.Table.from_pylist(rows)
        pyarrow.parquet.write_table(table, tmp_path / f"{number}.parquet")
    here, there = both(f"{tmp_path}/*.parquet", ReadOptions(order_column="when"), tmp_path)
    assert_same(here, there)


def test_a_file_that_cannot_be_had_is_no_finished_part(parts: Path) -> None:
    data, gone = f"{parts}/in/*.jsonl", parts / "in" / "3.jsonl"
    reading = FileReading.of(data, ReadOptions(on_error="skip"))
    assert reading is not None
    content = gone.read_bytes()
    engine = InlineEngine(parts / "shared")
    for change in (gone.unlink, partial(gone.write_bytes, content + b"\n")):
        change()
        with pytest.raises(InvalidDataError, match=r"3\.jsonl: (cannot be opened|has .* bytes)"):
            list(engine.map(reading, [(4,)]))
    gone.write_bytes(content)
    (expected,) = engine.map(reading, [(4,)])
    assert FileDocuments.from_arrays(expected).summary.skipped == 1


def test_a_name_that_is_no_text_is_told_as_it_is_in_one_go(tmp_path: Path) -> None:
    for name in ("a", "caf\udce9"):
        (tmp_path / f"{name}.jsonl").write_text('{"text": "a", "labels": ["x"]}\n{broken\n')
    here, there = both(f"{tmp_path}/*.jsonl", ReadOptions(on_error="skip"), tmp_path)
    assert_same(here, there)


def test_no_documents_in_any_file_are_refused(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"{number}.jsonl").write_text('{"text": "a", "labels": []}\n')
    data = f"{tmp_path}/*.jsonl"
    elsewhere = ReadByWorkers(InlineEngine(tmp_path / "shared"), data)
    with pytest.raises(InvalidDataError, match=r"no documents \(0 skipped, 2 dropped\)"):
        load_collection(data, ReadOptions(unlabelled="drop"), elsewhere=elsewhere)


@pytest.mark.parametrize("name", ["one.jsonl", "*.svm"])
def test_one_file_and_ready_made_features_are_read_here(name: str, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"text": "a b", "labels": ["x"]}\n')
    for number in range(2):
        (tmp_path / f"{number}.svm").write_text("0 1:2 3:1\n")
    here, there = both(str(tmp_path / name), ReadOptions(), tmp_path)
    assert isinstance(there.documents, type(here.documents))
    assert not (tmp_path / "shared").exists()


@pytest.mark.usefixtures("small_groups")
def test_texts_that_are_stored_are_a_sequence_and_groups_of_rows(parts: Path) -> None:
    here, there = both(f"{parts}/in/*.jsonl", ReadOptions(on_error="skip"), parts)
    listed, stored = list(here.documents), there.documents
    assert [stored[-place] for place in range(1, len(listed) + 1)] == listed[::-1]
    assert stored[3:40:7] == listed[3:40:7]
    assert len(stored_groups(stored) or []) > 4
    rows = np.array([0, 1, 29, 30, 31, 88, 119])
    some = subset(there, rows)
    assert list(some.documents) == [listed[row] for row in rows]
    groups = shared_groups(InlineEngine(parts / "shared"), some.documents)
    assert groups is not None
    opened = [{name: _opened(parts, array) for name, array in own.items()} for own in groups]
    assert [text for own in opened for text in texts_of(own)] == [listed[row] for row in rows]
    assert stored_groups(subset(there, rows[::-1]).documents) is None


def _opened(parts: Path, array: Any) -> Any:
    return InlineEngine(parts / "shared").open(array) if array.dtype.kind == "S" else array


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize(
    "texts", [[""], ["a\ud800" * 35], ["a" * 69, "", "b" * 200, ""], ["x"] * 300]
)
def test_a_group_gives_back_its_texts(texts: list[str]) -> None:
    packed = PackedTexts(packed_group(texts))
    assert list(packed) == texts
    assert packed.n_bytes == sum(len(text.encode(errors="surrogatepass")) for text in texts)


def test_a_bad_record_is_told_with_the_option_that_skips_it_here_and_by_workers(
    parts: Path,
) -> None:
    data = f"{parts}/in/*.jsonl"
    for elsewhere in (None, ReadByWorkers(InlineEngine(parts / "shared"), data)):
        with pytest.raises(InvalidDataError, match="--on-error skip leaves such records out"):
            load_collection(data, elsewhere=elsewhere)
