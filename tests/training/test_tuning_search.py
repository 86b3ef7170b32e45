"""A tuning keeps what its budget allows, goes on where it was, and writes what it tried."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.errors import InvalidRequestError
from app.training.recipe import read_recipe
from app.training.search.candidates import Candidate
from app.training.train import TrainingJob
from app.training.tuning import halving
from app.training.tuning.recipe_toml import recipe_toml
from app.training.tuning.tuned_training import Tuned, TuningFiles, tuned_training
from app.training.tuning.tuning_space import default_space, read_space
from tests.training.test_search import texts

SPACE = """
[[candidates]]
name = "pairs"
features = { ngram_range = [1, 2] }
settings = { c = 1.0 }

[[candidates]]
name = "prototypes"
learner = "rocchio"
"""


@pytest.fixture
def space(tmp_path: Path) -> Path:
    file = tmp_path / "space.toml"
    file.write_text(SPACE)
    return file


def tuned(folder: Path, space: Path, **options: Any) -> Tuned:
    files = TuningFiles(folder, resume=options.pop("resume", False))
    budget = options.pop("budget", 600.0)
    return tuned_training(
        TrainingJob(texts(), read_recipe(None)), budget, files=files, space=space, **options
    )


def test_every_candidate_is_tried_and_the_best_is_trained(tmp_path: Path, space: Path) -> None:
    result = tuned(tmp_path / "out", space)
    first = {trial["name"].partition(", C")[0] for trial in result.trials if trial["rung"] == 1}
    assert first == {"words", "pairs", "prototypes"}
    search = result.trained.info.figures["search"]
    last = [trial for trial in result.trials if trial["rung"] == halving.RUNGS]
    assert search["winner"]["micro_f1"] == max(trial["micro_f1"] for trial in last)
    assert result.default.keys() == {"micro_f1", "macro_f1"}
    assert search["winner"]["micro_f1"] >= result.default["micro_f1"]


def test_the_recipe_on_disk_is_the_one_that_was_trained(tmp_path: Path, space: Path) -> None:
    result = tuned(tmp_path / "out", space)
    recipe = read_recipe(tmp_path / "out" / "recipe.toml")
    trained = result.trained.info.recipe["members"]
    assert [[m.learner, m.settings] for m in recipe.members] == [
        [m["learner"], m["settings"]] for m in trained
    ]
    table = json.loads((tmp_path / "out" / "trials.json").read_text())
    assert len(table["trials"]) == len(result.trials)
    page = (tmp_path / "out" / "trials.html").read_text()
    assert table["winner"]["name"] in page
    assert "http" not in page


def test_a_resumed_tuning_repeats_no_trial_and_ends_alike(
    tmp_path: Path, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tuned(tmp_path / "out", space)

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("tried again")

    monkeypatch.setattr(halving, "trials_of", never)
    after = tuned(tmp_path / "out", space, resume=True)
    assert after.trained.info.figures == before.trained.info.figures
    assert after.trials == before.trials


def test_an_interrupt_keeps_the_best_so_far(
    tmp_path: Path, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials_of, tried = halving.trials_of, list[str]()

    def interrupted(candidate: Candidate, *rest: Any, **options: Any) -> Any:
        if candidate.name == "prototypes":
            raise KeyboardInterrupt
        tried.append(candidate.name)
        return trials_of(candidate, *rest, **options)

    monkeypatch.setattr(halving, "trials_of", interrupted)
    result = tuned(tmp_path / "out", space)
    assert tried == ["words", "pairs"]
    assert result.trained.info.figures["search"]["winner"]["name"].startswith(("words", "pairs"))


def test_the_end_of_the_budget_keeps_the_first_candidate_at_least(
    tmp_path: Path, space: Path
) -> None:
    result = tuned(tmp_path / "out", space, budget=1e-9)
    assert {trial["name"].partition(",")[0] for trial in result.trials} == {"words"}


def test_recipes_written_as_toml_are_read_back_as_they_were() -> None:
    tables = {
        "learner": {"c": 0.5, "ratios": 0.5},
        "features": {"parts": [{"lead": [15, 40]}, {"analyzer": "char_wb", "weight": 0.5}]},
        "decision": {"name": "both-f", "fbr": 0.1},
    }
    recipe = read_recipe(tables)
    assert read_recipe(tomllib.loads(recipe_toml(recipe))) == recipe


def test_the_usual_space_has_what_was_asked_for_and_refuses_what_needs_a_validation_set() -> None:
    recipe = read_recipe({"learner": {"ratios": 0.25}})
    found = default_space(recipe, mean_words=100, learners=["rocchio"])
    assert all(c.member.settings["ratios"] == 0.25 for c in found[:-1])
    assert found[-1].member.learner == "rocchio"
    with pytest.raises(InvalidRequestError, match="cannot be tried on folds"):
        default_space(recipe, mean_words=100, learners=["hand-rules"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("candidates = 3", "accepted"),
        ("[[candidates]]\ncolour = 1", "no 'colour'"),
        ("[[candidates]", "not TOML"),
        ('[[candidates]]\nfeatures = { select = "df", keep = 9 }', "candidate 1: terms are"),
    ],
)
def test_a_wrong_space_is_refused_with_what_is_wrong(
    tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "space.toml"
    file.write_text(text)
    with pytest.raises(InvalidRequestError, match=problem):
        read_space(file)
