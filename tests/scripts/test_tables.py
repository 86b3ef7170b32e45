"""Tables as people have them, through the commands: said what was chosen, and read alike."""

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import write_corpus
from tests.scripts.test_train import run


def table(file: Path, corpus: Path, join: str = ", ", first: int = 0) -> Path:
    """The corpus as a CSV whose labels stand in one cell."""
    records = [json.loads(line) for line in corpus.read_text().splitlines()][first:]
    with file.open("w", encoding="utf-8-sig", newline="") as lines:
        writer = csv.writer(lines, delimiter=";")
        writer.writerow(["Body", "Tags"])
        writer.writerows((each["text"], join.join(each["labels"])) for each in records)
    return file


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("tables")
    data = table(folder / "train.csv", write_corpus(folder / "a.jsonl", 120))
    # Three rows of one or two labels each: alone they would not tell their separator.
    test = table(folder / "test.csv", write_corpus(folder / "b.jsonl", 60, seed=4), first=57)
    code, out, err = run(
        *("scripts/train.py", data, "--model", "m", "--models-dir", folder / "models"),
        *("--text-columns", "Body", "--label-column", "Tags", "--test", test),
        *("--jobs", "1", "--json", folder / "result.json"),
    )
    assert code == 0, err
    return folder, out, err, json.loads((folder / "result.json").read_text())


def test_train_says_which_separator_it_chose(
    trained: tuple[Path, str, str, dict[str, dict[str, object]]],
) -> None:
    _, out, err, result = trained
    assert err == "labels: separated by , (detected; --label-separator says otherwise)\n"
    assert "separated by ," in out
    assert result["read"]["label_separator"] == ","
    assert result["read"]["labels"] < 10
    assert result["warnings"] == []


def test_a_test_file_is_read_with_the_separator_of_the_training_data(
    trained: tuple[Path, str, str, dict[str, dict[str, dict[str, object]]]],
) -> None:
    assert trained[3]["report"]["data"]["zero_shot_labels"] == 0
    assert trained[3]["report"]["data"]["label_separator"] == ","


def test_evaluate_reads_labels_as_the_model_knows_them(
    trained: tuple[Path, str, str, dict[str, object]],
) -> None:
    folder = trained[0]
    code, out, err = run(
        *("scripts/evaluate.py", "m", folder / "test.csv", "--models-dir", folder / "models"),
        *("--text-columns", "Body", "--label-column", "Tags", "--jobs", "1", "--json", "-"),
    )
    assert code == 0, err
    assert json.loads(out)["data"]["zero_shot_labels"] == 0
    assert err.startswith("labels: separated by ,")


def test_predicted_labels_are_joined_as_in_the_training_data(
    trained: tuple[Path, str, str, dict[str, object]],
) -> None:
    folder = trained[0]
    code, _, err = run(
        *("scripts/predict.py", "m", folder / "train.csv", "--models-dir", folder / "models"),
        *("--text-columns", "Body", "--output", folder / "labelled.csv"),
    )
    assert code == 0, err
    with (folder / "labelled.csv").open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter=";"))
    assert any(", " in row["labels"] for row in rows)
    assert not any("|" in row["labels"] for row in rows)
    assert {label for row in rows for label in row["labels"].split(", ")} <= {
        label for row in rows for label in row["Tags"].split(", ")
    }


def test_a_wrong_text_column_is_answered_with_the_likely_one(
    trained: tuple[Path, str, str, dict[str, object]],
) -> None:
    folder = trained[0]
    code, _, err = run("scripts/train.py", folder / "train.csv", "--model", "x")
    assert code == 1
    assert "there are: Body, Tags; did you mean --text-columns Body" in err
