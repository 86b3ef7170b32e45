"""The review through the door: train, look at the suspects, decide, train again."""

import csv
import json
from pathlib import Path

from app.artifacts.store import Store
from tests.scripts.test_train import run


def faulty_corpus(corpus_file: Path, target: Path) -> tuple[Path, str]:
    """The corpus with one label missing, and the id of the document that misses it."""
    records = [json.loads(line) for line in corpus_file.read_text().splitlines()]
    record = next(one for one in records if len(one["labels"]) == 2)
    record["labels"] = record["labels"][:1]
    target.write_text("".join(json.dumps(one) + "\n" for one in records))
    return target, record["id"]


def test_the_suspects_file_with_decisions_is_the_corrections_file(
    corpus_file: Path, tmp_path: Path
) -> None:
    data, missing = faulty_corpus(corpus_file, tmp_path / "data.jsonl")
    file = tmp_path / "suspects.csv"
    common = ("scripts/train.py", data, "--model", "m", "--models-dir", tmp_path, "--json", "-")
    code, out, err = run(*common, "--suspects", file)
    assert (code, err) == (0, "")
    assert json.loads(out)["suspects"] > 0
    first = _decide_first(file, "take")
    assert (first["id"], first["kind"]) == (missing, "missing")
    code, out, err = run(*common, "--corrections", file)
    assert (code, err) == (0, "")
    result = json.loads(out)
    applied = result["read"]["corrections"]
    assert (applied["added"], applied["removed"], applied["unmatched"]) == (1, 0, 0)
    manifest = Store(tmp_path).peek("m", result["version"])
    kept = {"sha256": applied["sha256"], "added": 1, "removed": 0}
    assert manifest.recipe["corrections"] == kept
    assert manifest.data.counts["pairs"] == result["read"]["pairs"]


def _decide_first(file: Path, decision: str) -> dict[str, str]:
    """Write a decision into the first entry, as a reviewer would; the entry."""
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    rows[0]["decision"] = decision
    with file.open("w", newline="") as lines:
        written = csv.DictWriter(lines, list(rows[0]))
        written.writeheader()
        written.writerows(rows)
    return rows[0]


def test_a_name_that_no_suspects_can_be_written_to_is_refused_before_training(
    corpus_file: Path, tmp_path: Path
) -> None:
    common = ("scripts/train.py", corpus_file, "--model", "m", "--models-dir", tmp_path)
    code, _, err = run(*common, "--suspects", tmp_path / "suspects.txt")
    assert code == 2
    assert "--suspects takes a file name that ends in .csv or .json" in err
    assert not Store(tmp_path).names()


def test_an_evaluation_shows_suspects_on_the_terminal(
    tiny_models: Path, corpus_file: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in corpus_file.read_text().splitlines()]
    records[0]["labels"] = []
    data = tmp_path / "test.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in records))
    code, out, err = run(
        *("scripts/evaluate.py", "tiny", data, "--models-dir", tiny_models, "--suspects", "1")
    )
    assert (code, err) == (0, "")
    shown = out.partition("labels that are probably missing or wrong")[2]
    assert "missing" in shown.splitlines()[2]
