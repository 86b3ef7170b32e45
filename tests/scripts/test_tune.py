"""`labelserve tune` and `train --quality`, as they are typed."""

import json
from pathlib import Path

import pytest

from app.datasets.demo.corpus import write_demo
from tests.scripts.conftest import Typed


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 400 documents of the demo corpus."""
    folder = tmp_path_factory.mktemp("corpus")
    write_demo(folder)
    lines = (folder / "train.jsonl").read_text().splitlines(keepends=True)[:400]
    (folder / "some.jsonl").write_text("".join(lines))
    return folder / "some.jsonl"


def test_train_says_what_it_tried_and_what_won(typed: Typed, corpus: Path, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    line = ("train", corpus, "--model", "m", "--models-dir", tmp_path, "--json", result)
    code, out, _ = typed(*line)
    assert code == 0
    assert "trials on 400 documents" in out
    assert "less luck of the choice" in out
    search = json.loads(result.read_text())["figures"]["search"]
    assert search["quality"] == "balanced"
    assert search["winner"]["name"] in " ".join(out.split())


def test_a_recipe_file_and_fast_are_trained_as_they_stand(
    typed: Typed, corpus: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[learner]\nc = 2.0\n")
    for options in (("--recipe", recipe), ("--quality", "fast")):
        result = tmp_path / "result.json"
        line = ("train", corpus, "--model", "m", "--models-dir", tmp_path, "--json", result)
        assert typed(*line, *options)[0] == 0
        assert "search" not in json.loads(result.read_text())["figures"]


def test_tune_shows_the_best_beside_the_default_and_writes_what_it_tried(
    typed: Typed, corpus: Path, tmp_path: Path
) -> None:
    out_folder = tmp_path / "tuning"
    line = ("tune", corpus, "--model", "m", "--models-dir", tmp_path, "--out", out_folder)
    code, out, err = typed(*line, "--budget", "3s", "--objective", "both")
    assert (code, err) == (0, "")
    assert "promised held-out micro_f1" in out
    written = {file.name for file in out_folder.iterdir() if file.is_file()}
    assert written == {"recipe.toml", "trials.html", "trials.json"}
    assert 'name = "both-f"' in (out_folder / "recipe.toml").read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("tune", "--budget", "soon"), "90s, 10m or 2h"),
        (("train", "--objective", "both", "--decision", "macro-f"), "leave --decision out"),
    ],
)
def test_what_makes_no_sense_is_refused(
    typed: Typed, corpus: Path, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    command, *options = words
    line = (command, corpus, "--model", "m", "--models-dir", tmp_path, *options)
    code, _, err = typed(*line)
    assert code == 2
    assert problem in " ".join(err.split())
