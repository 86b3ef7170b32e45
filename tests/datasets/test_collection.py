"""Collections in memory: cleaning, splitting, maps and fingerprints."""

import io
from pathlib import Path

import numpy as np
import pytest

from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection, split
from app.datasets.fingerprint import fingerprint, fingerprints
from app.datasets.label_map import load_label_map
from app.errors import InvalidDataError, InvalidRequestError
from tests.datasets.cases import SAMPLES

DATA = b"1\ta b\tx\n2\ta\ty\n3\tb c\tz\n4\tc\tw\n5\td\tv\n"


def test_a_collection_holds_texts_labels_and_ids_in_order() -> None:
    found = load_collection(io.BytesIO(DATA))
    assert found.documents == ["x", "y", "z", "w", "v"]
    assert found.label_sets == [("a", "b"), ("a",), ("b", "c"), ("c",), ("d",)]
    assert found.ids == ["1", "2", "3", "4", "5"]
    assert len(found) == found.summary.documents == 5


def test_labels_with_too_few_documents_are_removed_and_counted() -> None:
    found = load_collection(io.BytesIO(DATA), min_label_documents=2)
    assert found.label_sets[-1] == ()
    summary = found.summary
    assert (summary.labels, summary.pairs, summary.unlabelled) == (3, 6, 1)
    assert (summary.rare_labels, summary.rare_pairs, summary.dropped) == (1, 1, 0)


def test_every_pair_of_a_rare_label_is_counted() -> None:
    summary = load_collection(io.BytesIO(b"a b\tx\na b\ty\na\tz\n"), min_label_documents=3).summary
    assert (summary.rare_labels, summary.rare_pairs, summary.pairs) == (1, 2, 3)


@pytest.mark.parametrize("format", ["tsv", "svmlight"])
def test_documents_left_without_labels_are_dropped_where_unlabelled_ones_are(format: str) -> None:
    options = ReadOptions(format=format, unlabelled="drop")
    found = load_collection(io.BytesIO(SAMPLES[format]()), options, min_label_documents=2)
    assert found.label_sets == [("wheat",), ("wheat",)]
    assert len(found.ids) == 2
    summary = found.summary
    assert (summary.documents, summary.unlabelled, summary.dropped) == (2, 2, 2)
    assert (summary.labels, summary.pairs, summary.rare_labels) == (1, 2, 2)


@pytest.mark.parametrize("format", ["tsv", "svmlight"])
def test_a_split_keeps_every_document_once_and_depends_on_the_seed_only(format: str) -> None:
    data = DATA if format == "tsv" else b"".join(b"%d %d:1\n" % (n, n) for n in range(1, 31))
    whole = load_collection(io.BytesIO(data), ReadOptions(format=format))
    train, test = split(whole, 0.4, 3)
    assert len(test) == round(0.4 * len(whole))
    assert sorted(train.label_sets + test.label_sets) == sorted(whole.label_sets)
    assert split(whole, 0.4, 3)[1].label_sets == test.label_sets
    tests = {tuple(split(whole, 0.4, seed)[1].label_sets) for seed in range(5)}
    assert len(tests) > 1
    assert train.summary.documents == len(train)
    if whole.is_ready_made:
        for part in (train, test):
            columns = [int(label) - 1 for (label,) in part.label_sets]
            assert part.documents.indices.tolist() == columns


def test_ids_stay_with_their_texts_and_dropped_documents_stay_counted_in_a_split() -> None:
    options = ReadOptions(format="tsv", unlabelled="drop")
    whole = load_collection(io.BytesIO(DATA + b"6\t\tu\n"), options)
    text_of = dict(zip(whole.ids, whole.documents, strict=True))
    for part in split(whole, 0.4, 3):
        assert [text_of[id_] for id_ in part.ids] == part.documents
        assert (part.summary.unlabelled, part.summary.dropped) == (1, 1)


def test_a_share_is_rounded_to_the_nearest_number_of_documents() -> None:
    assert len(split(load_collection(io.BytesIO(DATA)), 0.35, 0)[1]) == 2


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_outside_0_and_1_is_refused(share: float) -> None:
    with pytest.raises(InvalidRequestError, match="share"):
        split(load_collection(io.BytesIO(DATA)), share, 0)


def test_no_documents_are_an_error_with_the_file() -> None:
    with pytest.raises(InvalidDataError, match="data:1:1: no documents"):
        load_collection(io.BytesIO(b"\n\n"))
    options = ReadOptions(format="tsv", on_error="skip", unlabelled="drop")
    with pytest.raises(InvalidDataError, match=r"no documents \(1 skipped, 1 dropped\)"):
        load_collection(io.BytesIO(b"x\n\ty\n"), options)
    with pytest.raises(InvalidDataError, match=r"no documents \(2 skipped, 1 dropped\)"):
        load_collection(io.BytesIO(b"x\nx\n\ty\n"), options)


def test_progress_is_reported() -> None:
    calls: list[tuple[str, int, int]] = []
    data = b"a\tx\n" * 2500
    load_collection(io.BytesIO(data), progress=lambda *call: calls.append(call))
    assert calls == [("read", 1000, 0), ("read", 2000, 0), ("read", 2500, 2500)]


@pytest.mark.parametrize(
    "text", ["from,to\na,b\nc,\n", "a;b\nc;\n", "a\tb\nc\t\n", "\ufefffrom,to\r\n a , b\r\nc,\r\n"]
)
def test_a_label_map_is_read_from_any_delimiter(text: str, tmp_path: Path) -> None:
    file = tmp_path / "map.csv"
    file.write_bytes(text.encode())
    assert load_label_map(file) == {"a": "b", "c": ""}


def test_from_and_to_are_labels_like_others_below_the_first_row(tmp_path: Path) -> None:
    file = tmp_path / "map.csv"
    file.write_text("a,b\nfrom,to\n")
    assert load_label_map(file) == {"a": "b", "from": "to"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\na\n", "map.csv:2:1: not `from,to`"),
        ("a,b\nx,y,z\n", "map.csv:2:1: not `from,to`"),
        ("a,b\n,z\n", "map.csv:2:1: not `from,to`"),
        ("a,b\na,c\n", "map.csv:2:1: a label renamed twice"),
        ("a,b\x01\n", "map.csv:1:2: a control character in a label"),
    ],
)
def test_a_bad_label_map_is_refused_with_line(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "map.csv"
    file.write_text(text)
    with pytest.raises(InvalidDataError) as caught:
        load_label_map(file)
    assert sentence in str(caught.value)


def test_fingerprints_fold_white_space_and_tell_texts_apart() -> None:
    found = fingerprints(["a b", "a\n b ", "ab", ""])
    assert found.dtype == np.uint64
    assert found[0] == found[1] == fingerprint("a b")
    assert len(set(found.tolist())) == 3
