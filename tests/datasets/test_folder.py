"""Folders of texts, in both layouts."""

import gzip
import os
from pathlib import Path

import pytest

from app.datasets.base import ReadOptions
from app.datasets.input.limits import Limits
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError
from tests.datasets.cases import CORPUS


def test_a_folder_for_each_label(label_folders: Path) -> None:
    reading = open_dataset(label_folders)
    found = [(d.id, d.labels, d.text) for d in reading]
    assert reading.format == "folder"
    assert found == [record for record in CORPUS if record[1]]
    assert reading.summary.bytes > 0


def test_pairs_of_text_and_labels(pair_folder: Path) -> None:
    found = [(d.id, d.labels, d.text) for d in open_dataset(pair_folder)]
    assert found == CORPUS


def test_files_of_one_name_and_different_texts_are_different_documents(tmp_path: Path) -> None:
    for label, text in [("a", "x"), ("b", "y"), ("c/d", "x")]:
        (tmp_path / label).mkdir(parents=True)
        (tmp_path / label / "1.txt").write_text(text)
    found = [(d.id, d.labels, d.text) for d in open_dataset(tmp_path)]
    assert found == [("a/1", ("a", "c/d"), "x"), ("b/1", ("b",), "y")]


def test_files_may_be_compressed_and_hidden_ones_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "1.txt.gz").write_bytes(gzip.compress(b"one\r\ntwo\n"))
    (tmp_path / "spam" / ".DS_Store").write_bytes(b"\0")
    (document,) = open_dataset(tmp_path)
    assert (document.id, document.labels, document.text) == ("1", ("spam",), "one\ntwo")


def test_a_bad_file_is_named_and_can_be_skipped(label_folders: Path) -> None:
    bad = label_folders / "corn" / "a0.txt"
    bad.write_bytes(b"fine\nnot \xff fine\n\xff")
    with pytest.raises(InvalidDataError, match=r"a0\.txt:2:5: not UTF-8"):
        list(open_dataset(label_folders))
    reading = open_dataset(label_folders, ReadOptions(on_error="skip"))
    assert len(list(reading)) == 3
    assert reading.summary.skipped == 1
    assert "a0.txt" in reading.summary.skipped_lines[0].problem


def test_a_damaged_compressed_file_can_be_skipped(label_folders: Path) -> None:
    (label_folders / "corn" / "b.txt.gz").write_bytes(b"\x1f\x8bnot gzip")
    with pytest.raises(InvalidDataError, match=r"b\.txt\.gz:1:1: damaged compressed data"):
        list(open_dataset(label_folders))
    assert len(list(open_dataset(label_folders, ReadOptions(on_error="skip")))) == 3


def test_files_that_fit_no_layout_are_refused(label_folders: Path, pair_folder: Path) -> None:
    (label_folders / "README").write_text("stray")
    with pytest.raises(InvalidDataError, match="a file outside any folder"):
        list(open_dataset(label_folders))
    (pair_folder / "z.labels").write_text("corn")
    with pytest.raises(InvalidDataError, match=r"a \.labels file without its \.txt"):
        list(open_dataset(pair_folder))


def test_a_bad_label_is_named_with_its_line(pair_folder: Path) -> None:
    (pair_folder / "a1.labels").write_text("corn\nwh\x01eat")
    with pytest.raises(InvalidDataError, match=r"a1\.labels:2:1: a control character in a label"):
        list(open_dataset(pair_folder))


def test_names_that_are_not_utf_8_are_refused_as_labels_and_mended_as_ids(tmp_path: Path) -> None:
    bad = os.fsdecode(b"\xff")
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / f"{bad}.txt").write_text("x")
    (document,) = open_dataset(tmp_path)
    assert document.id == "\ufffd"
    (tmp_path / bad).mkdir()
    (tmp_path / bad / "1.txt").write_text("x")
    with pytest.raises(InvalidDataError, match="a label that is not UTF-8"):
        list(open_dataset(tmp_path))


def test_a_document_above_the_limit_is_refused(label_folders: Path) -> None:
    (label_folders / "corn" / "long.txt").write_text("many short lines\n" * 100)
    with pytest.raises(InvalidDataError, match="a document longer than 1000 bytes"):
        list(open_dataset(label_folders, ReadOptions(limits=Limits(max_line_bytes=1000))))


def test_the_hash_changes_with_a_text_and_with_a_label(label_folders: Path) -> None:
    def digest() -> str:
        reading = open_dataset(label_folders)
        list(reading)
        return reading.summary.sha256

    hashes = {digest()}
    (label_folders / "earn" / "a2.txt").write_text("changed")
    hashes.add(digest())
    (label_folders / "earn").rename(label_folders / "earned")
    hashes.add(digest())
    assert len(hashes) == 3


def test_a_file_read_as_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\tb")
    with pytest.raises(InvalidDataError, match="not a folder"):
        list(open_dataset(tmp_path / "a.txt", ReadOptions(format="folder")))
