"""Steps that go over a matrix in chunks give the same bits for chunks of any size."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import app.kernels.text.tokens as tokens
import app.learners.linear.block_rows as block_rows
import app.vectorizers.fold_vocabulary as fold_vocabulary
from app.arrays import row_chunks
from app.folds import Folds
from app.kernels.text.analysis import Analysis
from app.vectorizers.tfidf import Tfidf

RANDOM = np.random.default_rng(0)
FEATURES = csr_array(
    random_array((60, 200), density=0.05, format="csr", dtype=np.float32, random_state=RANDOM)
)
FEATURES.indptr[31:] -= FEATURES.indptr[31] - FEATURES.indptr[30]  # an empty row among others
FEATURES = csr_array(
    (FEATURES.data[: FEATURES.indptr[-1]], FEATURES.indices[: FEATURES.indptr[-1]], FEATURES.indptr)
)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_every_row_is_in_one_chunk(size: int) -> None:
    chunks = list(row_chunks(FEATURES.indptr, size))
    assert [row for chunk in chunks for row in range(60)[chunk.rows]] == list(range(60))
    entries = np.concatenate([np.arange(FEATURES.nnz)[chunk.entries] for chunk in chunks])
    assert entries.tolist() == list(range(FEATURES.nnz))
    rows = np.concatenate([chunk.row_of() + chunk.rows.start for chunk in chunks])
    assert np.array_equal(rows, np.repeat(np.arange(60), np.diff(FEATURES.indptr)))


@pytest.mark.parametrize("size", [1, 7])
def test_held_out_rows_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    folds = Folds(RANDOM.integers(0, 3, 60).astype(np.int32))
    rows = []
    for chunks in (row_chunks, partial(row_chunks, n_entries=size)):
        monkeypatch.setattr(fold_vocabulary, "row_chunks", chunks)
        is_kept = fold_vocabulary.is_known(FEATURES, FEATURES.indices, folds)
        rows.append((is_kept, fold_vocabulary.rescaled(FEATURES, is_kept).data))
    assert not rows[0][0].all()
    assert all(map(np.array_equal, *rows))


@pytest.mark.parametrize("size", [1, 7])
def test_the_rows_of_the_solver_do_not_depend_on_chunks(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    whole = block_rows.BlockRows.of(FEATURES, 1.0)
    monkeypatch.setattr(block_rows, "row_chunks", partial(row_chunks, n_entries=size))
    parts = block_rows.BlockRows.of(FEATURES, 1.0)
    assert all(map(np.array_equal, whole.rows, parts.rows))
    assert np.array_equal(whole.is_shared, parts.is_shared)
    for name in ("features", "documents", "values"):
        assert np.array_equal(getattr(whole.singletons, name), getattr(parts.singletons, name))
    wide = csr_array(
        (FEATURES.data, FEATURES.indices.astype(np.int64), FEATURES.indptr.astype(np.int64))
    )
    assert wide.indices.dtype == np.int64
    assert all(map(np.array_equal, whole.rows, block_rows.BlockRows.of(wide, 1.0).rows))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_vocabulary_does_not_depend_on_how_many_texts_are_packed_together(
    monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    words = [f"word{number}" for number in range(80)]
    texts = ["", *(" ".join(RANDOM.choice(words, 12)) for _ in range(50)), "Zürich ünd"]
    whole, counts = tokens.learn(texts, Analysis(), jobs=1)
    monkeypatch.setattr(tokens, "PACKED", 200)
    again, again_counts = tokens.learn(texts, Analysis(), jobs=jobs)
    assert again.terms == whole.terms
    assert all(map(np.array_equal, counts, again_counts))
    known = tokens.count_known(texts, Analysis(), whole, jobs=jobs)
    assert all(map(np.array_equal, counts, known))


def test_what_is_learnt_from_are_terms_and_no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []

    def vocabulary(parts: Any) -> Any:
        kept.extend(len(arena) for arena, _ in parts)
        return real(parts)

    real = tokens.joined_vocabulary
    monkeypatch.setattr(tokens, "joined_vocabulary", vocabulary)
    texts = [" ".join([f"own{number}", *["common"] * 100]) for number in range(100)]
    tokens.learn(texts, Analysis(), jobs=1)
    assert sum(kept) == len("common") + sum(len(f"own{number}") for number in range(100))


def test_column_numbers_have_32_bits_where_they_fit() -> None:
    assert Tfidf().fit_transform(["a rose is a rose", "is it"]).indices.dtype == np.int32
