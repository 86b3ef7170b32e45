"""SVMlight lines, against scikit-learn and by hand."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import random_array
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection
from app.errors import InvalidDataError
from tests.datasets.cases import read


def one(line: bytes) -> tuple[tuple[str, ...], list[tuple[int, float]]]:
    (document,) = read(line, format="svmlight")
    assert document.features is not None
    return document.labels, [(int(c), float(v)) for c, v in zip(*document.features, strict=True)]


@given(st.integers(0, 2**32 - 1))
def test_the_matrix_is_that_of_scikit_learn(seed: int) -> None:
    X = random_array((5, 9), density=0.4, rng=np.random.default_rng(seed), format="csr")
    file = io.BytesIO()
    truth = random_array((5, 4), density=0.4, rng=np.random.default_rng(seed), format="csr") > 0
    dump_svmlight_file(X, truth, file, zero_based=False, multilabel=True)
    expected, labels = load_svmlight_file(
        io.BytesIO(file.getvalue()), zero_based=False, multilabel=True, dtype=np.float64
    )
    found = load_collection(io.BytesIO(file.getvalue()), ReadOptions(format="svmlight"))
    assert found.is_ready_made
    assert found.documents.dtype == np.float32
    assert found.documents.shape == expected.shape
    assert abs(found.documents - expected.astype(np.float32)).sum() == 0
    assert [tuple(f"{label:g}" for label in row) for row in labels] == found.label_sets


def test_indices_begin_at_1_and_labels_stay_as_written() -> None:
    assert one(b"3,sp\xc3\xa4t,3 1:2 10:-.5e1") == (("3", "spät"), [(0, 2.0), (9, -5.0)])


def test_a_line_may_have_no_labels_no_features_and_a_comment() -> None:
    assert one(b" 1:2") == ((), [(0, 2.0)])
    assert one(b"1:2") == ((), [(0, 2.0)])
    assert one(b"5 ") == (("5",), [])
    assert one(b"# all\n5 1:1 # 2:2") == (("5",), [(0, 1.0)])


def test_indices_out_of_order_are_sorted() -> None:
    assert one(b"5 3:3 1:1") == (("5",), [(0, 1.0), (2, 3.0)])


def test_below_the_header_of_the_xmc_repository_everything_counts_from_0() -> None:
    first, second = read(b"2 3 4\n0,3 0:1 2:.5\n\n\n", format="svmlight")
    assert first.labels == ("0", "3")
    assert first.features is not None
    assert first.features[0].tolist() == [0, 2]
    assert second.labels == ()
    assert second.features is not None
    assert len(second.features[0]) == 0


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        (b"1 1:1\n2 0:1\n", (2, 3), "an index outside 1 to 2147483647"),
        (b"1 1:1 2147483648:1\n", (1, 7), "an index outside 1 to 2147483647"),
        (b"1 1:1 1:2\n", (1, 7), "an index that is repeated"),
        (b"1 1:x\n", (1, 3), "not index:value"),
        (b"1 1:nan\n", (1, 3), "not index:value"),
        (b"1 1:1e39\n", (1, 3), "a value too large for 32 bits"),
        (b"1 word\n", (1, 3), "not index:value"),
        (b"1 qid:4 1:1\n", (1, 3), "not index:value"),
        (b"x:y 1:1\n", (1, 1), "not index:value"),
        (b"1 3 2\n0 0:1 3:1\n", (2, 7), "an index outside 0 to 2"),
        (b"1 3 2\n0,2 0:1\n", (2, 1), "an unknown label"),
        (b"2 3 2\n0 0:1\n", (1, 1), "the header promises 2 documents, there are 1"),
    ],
)
def test_a_bad_line_is_named_with_line_and_column(
    data: bytes, place: tuple[int, int], problem: str
) -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(data, format="svmlight")
    error = caught.value
    assert (error.line, error.column, error.problem) == (*place, problem)


def test_label_numbers_become_names_by_the_map(tmp_path: Path) -> None:
    documents = read(b"0,4 1:1\n", format="svmlight", label_map={"0": "Beach", "4": "Mountain"})
    assert documents[0].labels == ("Beach", "Mountain")
