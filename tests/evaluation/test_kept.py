"""What is kept of an evaluation: all that comparisons need, checked to the byte on reading."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import ConflictError, DamagedEvaluationError
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.compare.comparison import System, compare
from app.evaluation.compare.kept_comparison import Resampling, compare_kept
from app.evaluation.kept.evaluation import opened
from tests.evaluation.systems import Table, documents_of, info, made_up

MODEL = JudgedModel("made-up", "1", np.array([0, 2, 7, 30, 60, 400]), 1000)
KNOWN_TO_NONE = ("new", "newer")


def some_zero_shot(documents: list[Any]) -> list[Any]:
    """Every third document has labels more that no system knows."""
    return [
        type(d)(d.text, d.labels if i % 3 else (*d.labels, *KNOWN_TO_NONE), d.id, d.line)
        for i, d in enumerate(documents)
    ]


def kept(
    folder: Path, scorer: Table, documents: list[Any], model: JudgedModel = MODEL, **options: Any
) -> Path:
    evaluate(scorer, documents, EvaluationOptions(keep=folder, **options), info=model)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scorer, documents = made_up(40)
    return kept(tmp_path / "kept", scorer, some_zero_shot(documents))


def label_sets(folder: Path) -> Iterator[tuple[set[str], set[str]]]:
    """The decided and true labels of each document."""
    with opened(folder) as one:
        names = one.names(with_zero_shot=True)
        for block in one.documents.blocks(16):
            for row in range(block.n_documents):
                own = block.pairs.take(block.pairs.document == row)
                coded = list(zip(own.column.tolist(), own.kind.tolist(), strict=True))
                decided = {names[column] for column, kind in coded if kind != 2}
                yield decided, {names[column] for column, kind in coded if kind != 1}


def test_decided_and_all_true_labels_of_every_document_are_kept(tmp_path: Path) -> None:
    scorer, documents = made_up(40)
    documents = some_zero_shot(documents)
    expected = [
        ({scorer.names[c] for c in np.flatnonzero(row > 0)}, set(document.labels))
        for row, document in zip(scorer.rows, documents, strict=True)
    ]
    assert list(label_sets(kept(tmp_path, scorer, documents))) == expected


def test_ids_and_lines_are_kept_also_of_documents_without_an_id(tmp_path: Path) -> None:
    scorer, documents = made_up(4)
    ids = ["ä-1", None, "", "7"]
    named = [type(d)(d.text, d.labels, i, d.line) for i, d in zip(ids, documents, strict=True)]
    with opened(kept(tmp_path, scorer, named)) as one:
        assert one.documents.places([0, 1, 2, 3]) == list(zip(ids, [1, 2, 3, 4], strict=True))
        assert one.documents.places([3]) == [("7", 4)]


@pytest.mark.parametrize(
    ("labels_a", "labels_b", "options"),
    [
        (6, 6, {}),
        (6, 4, {"k": (1, 2)}),
        (6, 6, {"zero_division": "skip", "beta": 2.0, "unlabelled": "drop"}),
        (6, 6, {"include_test_labels": True}),
    ],
)
def test_kept_evaluations_compare_as_the_systems_themselves_do(
    tmp_path: Path, labels_a: int, labels_b: int, options: dict[str, Any]
) -> None:
    a, documents = made_up(50, labels_a, seed=1)
    b, _ = made_up(50, labels_b, seed=2)
    documents = some_zero_shot(documents)
    systems = [System(one, info(len(one.names)), lambda: documents) for one in (a, b)]
    expected = compare(*systems, EvaluationOptions(bootstrap=60, seed=3, **options))
    folders = [
        kept(tmp_path / str(number), one.scorer, documents, one.info, **options)  # type: ignore[arg-type]
        for number, one in enumerate(systems)
    ]
    found = compare_kept(*folders, Resampling(60, seed=3))
    assert found == {name: expected[name] for name in expected if name not in "ab"}


def test_documents_that_differ_are_listed_with_all_labels(tmp_path: Path) -> None:
    documents = documents_of([["a"], ["b", "new"], ["b"]])
    first = Table(np.float32([[1, -1], [1, 1], [-1, 1]]), ("a", "b"))
    second = Table(np.float32([[1, -1], [-1, 1], [-1, 1]]), ("a", "b"))
    folders = [
        kept(tmp_path / name, scorer, documents, JudgedModel(name))
        for name, scorer in (("one", first), ("two", second))
    ]
    found = compare_kept(*folders, Resampling(20))
    assert found["n_documents"] == 1
    labels = {"a": ["a", "b"], "b": ["b"], "true": ["b", "new"]}
    assert found["documents"] == [{"id": "doc-1", "line": 2, **labels}]


def test_evaluations_of_other_documents_or_options_are_not_compared(tmp_path: Path) -> None:
    scorer, documents = made_up(20)
    one = kept(tmp_path / "one", scorer, documents)
    fewer = kept(tmp_path / "fewer", scorer, documents[1:])
    with pytest.raises(ConflictError, match="different documents of the data were read"):
        compare_kept(one, fewer)
    weighted = kept(tmp_path / "weighted", scorer, documents, beta=2.0)
    with pytest.raises(ConflictError, match="they differ in beta"):
        compare_kept(one, weighted)
    facts = json.loads((one / "kept.json").read_text())
    (one / "kept.json").write_text(json.dumps({**facts, "data": "f" * 64}))
    with pytest.raises(ConflictError, match="they are of different data"):
        compare_kept(one, weighted)


@contextmanager
def edited(path: Path) -> Iterator[bytearray]:
    content = bytearray(path.read_bytes())
    yield content
    path.write_bytes(content)


def cut(folder: Path) -> None:
    with edited(folder / "pair.npy") as content:
        del content[-1:]


def lengthened(folder: Path) -> None:
    with edited(folder / "rank.npy") as content:
        content += b"\0\0\0\0"


def flipped(folder: Path) -> None:
    with edited(folder / "line.npy") as content:
        content[-1] ^= 1


def objects(folder: Path) -> None:
    array = np.array([object()], object)
    np.save(folder / "at_least.npy", array, allow_pickle=True)


def missing(folder: Path) -> None:
    (folder / "id_bytes.npy").unlink()


def other_arrays(folder: Path) -> None:
    facts = json.loads((folder / "kept.json").read_text())
    facts["arrays"]["line"]["dtype"] = "|O"
    (folder / "kept.json").write_text(json.dumps(facts))


def half_written(folder: Path) -> None:
    with edited(folder / "kept.json") as content:
        del content[len(content) // 2 :]


def unfinished(folder: Path) -> None:
    (folder / "kept.json").unlink()


def other_labels(folder: Path) -> None:
    facts = json.loads((folder / "kept.json").read_text())
    facts["labels"].append("one more")
    (folder / "kept.json").write_text(json.dumps(facts))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (cut, "pair.npy ends 1 of"),
        (lengthened, "rank.npy has 4 bytes after its end"),
        (flipped, "line.npy was changed"),
        (objects, "at_least.npy"),
        (missing, "id_bytes.npy is missing"),
        (other_arrays, "names other arrays"),
        (half_written, "kept.json of this evaluation is damaged"),
        (unfinished, "nothing was kept"),
        (other_labels, "do not belong together"),
    ],
)
def test_a_damaged_evaluation_is_refused_with_a_sentence(
    folder: Path, damage: Callable[[Path], None], said: str
) -> None:
    damage(folder)
    with pytest.raises(DamagedEvaluationError, match=said), opened(folder):
        pass


def test_keeping_an_evaluation_changes_nothing_in_its_report(tmp_path: Path) -> None:
    scorer, documents = made_up(30)
    documents = some_zero_shot(documents)
    options = EvaluationOptions(bootstrap=20)
    plain = evaluate(scorer, documents, options, info=MODEL).as_dict()
    also = evaluate(
        scorer, documents, EvaluationOptions(bootstrap=20, keep=tmp_path), info=MODEL
    ).as_dict()
    assert {**plain, "seconds": 0} == {**also, "seconds": 0}


def test_kept_documents_take_few_bytes(tmp_path: Path) -> None:
    scorer, documents = made_up(2000)
    folder = kept(tmp_path, scorer, documents)
    pairs = sum(len(decided | true) for decided, true in label_sets(folder))
    arrays = sum(path.stat().st_size for path in folder.glob("*.npy"))
    assert arrays < 2000 * (16 + len("doc-1234")) + 12 * pairs + 8 * 200
