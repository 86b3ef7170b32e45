"""Texts of large data sets: in a file, and still the same sequence."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.resources.texts as texts_module
from app.datasets.collection import load_collection, split, subset
from app.resources.texts import TextFile, kept_texts, texts_at
from tests.conftest import write_corpus


@pytest.fixture
def spooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every data set counts as a large one, and chunks are small."""
    monkeypatch.setattr(texts_module, "IN_MEMORY", 100)
    monkeypatch.setattr(texts_module, "CHUNK", 500)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=20)), st.integers(1, 30))
def test_a_file_gives_back_the_texts_in_any_way_they_are_asked_for(
    listed: list[str], chunk: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts_module, "IN_MEMORY", -1)
        patch.setattr(texts_module, "CHUNK", chunk)
        kept = kept_texts(iter(listed))
    assert len(kept) == len(listed)
    assert list(kept) == listed
    assert kept[1:] == listed[1:]
    assert [kept[-place] for place in range(1, len(listed) + 1)] == listed[::-1]
    rows = list(range(0, len(listed), 2))
    some = texts_at(kept, rows)
    assert list(some) == [listed[row] for row in rows]
    assert list(texts_at(some, [0] if rows else [])) == listed[: bool(rows)]
    with pytest.raises(IndexError):
        kept[len(listed)]


def test_half_a_surrogate_pair_comes_back_as_it_was() -> None:
    file = TextFile()
    file.add("a\ud800b")
    file.end()
    assert list(file) == ["a\ud800b"]


@pytest.mark.usefixtures("spooled")
def test_a_collection_from_a_file_of_texts_is_that_from_a_list(corpus_file: Path) -> None:
    spooled = load_collection(corpus_file)
    assert isinstance(spooled.documents, TextFile)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts_module, "IN_MEMORY", 1 << 24)
        listed = load_collection(corpus_file)
    assert isinstance(listed.documents, list)
    assert list(spooled.documents) == listed.documents
    assert spooled.summary == listed.summary
    for ours, theirs in zip(split(spooled, 0.3, 1), split(listed, 0.3, 1), strict=True):
        assert list(ours.documents) == theirs.documents
    rows = np.array([5, 3, 3, 99])
    assert list(subset(spooled, rows).documents) == subset(listed, rows).documents


@pytest.mark.usefixtures("spooled")
def test_the_file_is_in_the_scratch_folder_and_gone_with_the_texts(tmp_path: Path) -> None:
    data = write_corpus(tmp_path / "a.jsonl", 50)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    collection = load_collection(data, scratch=scratch)
    where = os.readlink(f"/proc/self/fd/{collection.documents._file.fileno()}")
    assert where.startswith(str(scratch))
    assert list(scratch.iterdir()) == []
    number = collection.documents._file.fileno()
    del collection
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)
