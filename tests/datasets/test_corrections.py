"""Corrections: applied on reading, counted, and never to the wrong document."""

import json
from pathlib import Path

import pytest

from app.datasets.base import ReadOptions
from app.datasets.collection import Collection, load_collection, subset
from app.datasets.corrections.file import load_corrections
from app.errors import InvalidDataError

DATA = "a\twheat\tone\nb\twheat corn\ttwo\nc\tcorn\tthree\n"


def corrected(
    tmp_path: Path, corrections: str, data: str = DATA, options: ReadOptions | None = None
) -> Collection:
    (tmp_path / "data.tsv").write_text(data)
    file = tmp_path / "corrections"
    file.write_text(corrections)
    return load_collection(tmp_path / "data.tsv", options, corrections=[load_corrections(file)])


def counts(collection: Collection) -> dict[str, int]:
    found = collection.summary.corrections
    assert found is not None
    names = ("added", "removed", "kept", "already_so", "unmatched", "repeated")
    return {name: value for name in names if (value := getattr(found, name))}


def test_decisions_are_applied_and_counted(tmp_path: Path) -> None:
    collection = corrected(
        tmp_path,
        "id,label,decision\na,corn,take\nb,wheat,drop\nb,corn,keep\n"
        "c,corn,take\nc,wheat,drop\na,wheat,unsure\n",
    )
    assert collection.label_sets == [("wheat", "corn"), ("corn",), ("corn",)]
    assert counts(collection) == {"added": 1, "removed": 1, "kept": 2, "already_so": 2}
    assert (collection.summary.pairs, collection.summary.labels) == (4, 2)


@pytest.mark.parametrize(
    "content",
    [
        'line;decision;label\n2;DROP;"wheat"\n',
        "\ufeffline\tlabel\tdecision\n2\twheat\tdrop\n",
        json.dumps([{"line": 2, "label": "wheat", "decision": "drop"}]),
        json.dumps({"suspects": [{"id": "b", "label": "wheat", "decision": "drop"}]}),
    ],
)
def test_a_review_may_be_saved_as_csv_of_any_delimiter_or_as_json(
    tmp_path: Path, content: str
) -> None:
    assert corrected(tmp_path, content).label_sets == [("wheat",), ("corn",), ("corn",)]


def test_what_does_not_fit_the_data_is_named_by_line_and_left_out(tmp_path: Path) -> None:
    collection = corrected(
        tmp_path,
        "id,line,label,decision\nz,,wheat,drop\na,2,wheat,drop\n,9,corn,take\na,1,maize,take\n"
        "a,1,corn,take\na,,corn,take\n",
    )
    found = collection.summary.corrections
    assert found is not None
    assert counts(collection) == {"unmatched": 4, "added": 1, "repeated": 1}
    assert [(fault.line, fault.problem) for fault in found.not_applied] == [
        (2, "no documents have this line and id"),
        (3, "no documents have this line and id"),
        (4, "no documents have this line and id"),
        (5, "no document has this label"),
        (7, "repeats line 6"),
    ]
    assert collection.label_sets == [("wheat", "corn"), ("wheat", "corn"), ("corn",)]


def test_two_documents_of_one_id_need_a_line(tmp_path: Path) -> None:
    data = "a\twheat\tone\na\twheat corn\ttwo\n"
    both = "id,line,label,decision\na,,wheat,drop\na,2,corn,drop\n"
    assert counts(corrected(tmp_path, both, data)) == {"removed": 1, "unmatched": 1}
    by_line = corrected(tmp_path, "id,line,label,decision\na,2,wheat,drop\n", data)
    assert by_line.label_sets == [("wheat",), ("corn",)]


def test_corrections_of_which_none_fits_are_refused(tmp_path: Path) -> None:
    nothing = "id,line,label,decision\nx,1,wheat,drop\ny,2,corn,drop\n"
    with pytest.raises(InvalidDataError, match=r":2:.* no decision fits the data: no documents"):
        corrected(tmp_path, nothing)
    with pytest.raises(InvalidDataError, match=r"read without ids: give --id-column"):
        corrected(tmp_path, nothing, "wheat\tone\ncorn\ttwo\n")


def test_several_files_count_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "data.tsv").write_text(DATA)
    files = []
    for number, decision in enumerate(("drop", "take")):
        file = tmp_path / f"corrections{number}"
        file.write_text(f"id,label,decision\na,wheat,{decision}\nc,wheat,{decision}\n")
        files.append(load_corrections(file))
    found = load_collection(tmp_path / "data.tsv", corrections=files)
    assert found.label_sets == [("wheat",), ("wheat", "corn"), ("corn", "wheat")]
    assert counts(found) == {"added": 2, "removed": 1, "already_so": 1}
    assert found.summary.corrections.sha256 == ",".join(file.sha256 for file in files)


def test_lines_of_other_data_do_not_count_but_ids_do(tmp_path: Path) -> None:
    other = "id,line,label,decision,data\nb,1,wheat,drop,sha256:0123456789ab\n"
    assert corrected(tmp_path, other).label_sets[1] == ("corn",)
    without_id = "line,label,decision,data\n1,wheat,drop,sha256:0123456789ab\n"
    with pytest.raises(InvalidDataError, match=r":2: the line is of other data"):
        corrected(tmp_path, without_id)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "id,label,decision\na,corn,take\na,corn,drop\n",
            r":3: contradicts line 2, which says take",
        ),
        (
            "id,label,decision\na,corn,keep\na,corn,take\n",
            r":3: contradicts line 2, which says keep",
        ),
        ("id,label,decision\na,corn,maybe\n", r":2.*unknown decision.*'maybe'"),
        ("id,label\na,corn\n", r":1.*no column decision"),
        ("id,label,decision\na,corn\n", r":2.*2 fields in a row; accepted: 3"),
        ("id,label,decision\n,corn,take\n", r":2.*neither id nor line"),
        ("id,label,decision\na,,take\n", r":2.*no label"),
        ("line,label,decision\n0,corn,take\n", r":2.*not a line number"),
        ('{"suspects": 3}', "not a list of objects"),
        ("[1]", "not a list of objects"),
        ("[", "not JSON"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_by_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(InvalidDataError, match=message):
        corrected(tmp_path, content)


def test_unlabelled_documents_are_dropped_after_the_corrections(tmp_path: Path) -> None:
    data = "a\twheat\tone\nb\t\ttwo\nc\tcorn\tthree\n"
    review = "id,label,decision\na,wheat,drop\nb,corn,take\na,corn,keep\n"
    with_wheat = data + "d\twheat\tfour\n"
    collection = corrected(tmp_path, review, with_wheat, ReadOptions(unlabelled="drop"))
    assert collection.ids == ["b", "c", "d"]
    assert (collection.summary.dropped, collection.summary.documents) == (1, 3)


def test_a_part_of_a_collection_keeps_its_lines(tmp_path: Path) -> None:
    (tmp_path / "data.tsv").write_text(DATA)
    part = subset(load_collection(tmp_path / "data.tsv"), [0, 2])
    assert part.lines is not None
    assert part.lines.tolist() == [1, 3]
