"""`scripts/evaluate.py` and `scripts/compare.py` through the door."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import write_corpus

ROOT = Path(__file__).parents[2]


def command(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(ROOT / "scripts" / script), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def labelled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("test") / "test.jsonl", 60, seed=1)


def test_a_model_and_its_written_predictions_are_judged_alike(
    tiny_models: Path, labelled_file: Path, tmp_path: Path
) -> None:
    report, page, lines = (tmp_path / name for name in ("report.json", "report.html", "p.jsonl"))
    done = command(
        *("evaluate.py", "tiny", labelled_file, "--models-dir", tiny_models, "--json", report),
        *("--html", page, "--predictions", lines, "--bootstrap", 20, "--k", "1,2"),
    )
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    found = json.loads(report.read_text())
    assert f"{found['decisions']['micro']['f1']:.4f}" in done.stdout
    assert page.read_text().startswith("<!doctype html>")
    assert len(lines.read_text().splitlines()) == 60
    again = command("evaluate.py", labelled_file, "--scores", lines, "--json", "-")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["decisions"]["micro"] == pytest.approx(
        found["decisions"]["micro"]
    )


def test_two_systems_are_compared_and_two_annotators_too(
    tiny_models: Path, labelled_file: Path, tmp_path: Path
) -> None:
    result = tmp_path / "comparison.json"
    done = command(
        *("compare.py", "tiny", "tiny", labelled_file, "--models-dir", tiny_models),
        *("--bootstrap", 100, "--json", result),
    )
    assert done.returncode == 0, done.stderr
    assert "may well be chance" in done.stdout
    assert json.loads(result.read_text())["tests"]["micro_sign"]["p"] == 1.0
    done = command("evaluate.py", labelled_file, "--against", labelled_file, "--json", "-")
    assert json.loads(done.stdout)["overlap"] == 1.0


def test_wrong_usage_is_told_apart_from_failure(tiny_models: Path, labelled_file: Path) -> None:
    assert command("evaluate.py", labelled_file).returncode == 2
    missing = command("evaluate.py", "nobody", labelled_file, "--models-dir", tiny_models)
    assert missing.returncode == 1
    assert missing.stderr.startswith("error: no such model")
