"""A labels file through the commands: trained with, predicted with, reported with."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import evaluate, predict, train

ROOT = Path(__file__).parents[2]
LABELS = (
    "label\tname\tdescription\tparent\nbilling\tRechnung\twhat is owed\tmoney\nmoney\tGeld\t\t\n"
    "crash\tAbsturz\t\t\nlogin\tAbsturz\t\tcrash\nshipping\t<i>Versand</i>\t\tmoney\n"
)


def run(module: object, *words: object) -> str:
    done = CliRunner().invoke(module.app, [*map(str, words)], catch_exceptions=False)  # type: ignore[attr-defined]
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def test_names_come_from_the_file_into_the_model_the_answers_and_the_report(
    corpus_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "labels.tsv").write_text(LABELS)
    where = ("--models-dir", tmp_path / "models")
    words = (corpus_file, "--model", "m", "--labels", tmp_path / "labels.tsv", "--jobs", 1)
    result = json.loads(run(train, *words, *where, "--json", "-"))
    counts = result["counts"]
    assert counts["labels_file_entries"] == 5
    assert counts["labels_file_not_in_data"] == counts["labels_not_in_labels_file"] == 1
    assert [warning.partition(" ")[0] for warning in result["warnings"]] == ["1", "2"]
    (tmp_path / "texts.jsonl").write_text('{"text": "refund the invoice payment"}\n')
    told = json.loads(run(predict, "m", tmp_path / "texts.jsonl", "--ancestors", *where))
    assert told["labels"][0]["name"] == "Rechnung"
    assert told["labels"][0]["ancestors"] == [{"label": "money", "name": "Geld"}]
    html = tmp_path / "page.html"
    shown = run(evaluate, "m", corpus_file, "--html", html, "--jobs", 1, *where)
    assert "hierarchical" in shown
    assert "money Geld" in shown
    assert "<i>Versand</i>" not in html.read_text()


def test_a_circle_stops_the_training_before_it_begins(corpus_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text("label\tparent\na\tb\nb\ta\n")
    done = subprocess.run(
        [sys.executable, "scripts/train.py", corpus_file, "--model", "m", "--labels", file],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {file}:2:1: a label that is its own ancestor")


@pytest.mark.parametrize("promote", ["not-worse", ""])
def test_relabel_names_what_promote_accepts(promote: str) -> None:
    from app.cli.commands.models import app
    from app.errors import InvalidRequestError

    with pytest.raises(InvalidRequestError, match="accepted: always, never"):
        CliRunner().invoke(
            app, ["relabel", "m", "file.csv", "--promote", promote], catch_exceptions=False
        )
