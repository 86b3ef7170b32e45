"""`labelserve retune --promote not-worse`: old and new cuts, measured on a third set."""

import json
import shutil
from pathlib import Path

import pytest

from app.artifacts.store import Store
from tests.conftest import write_corpus
from tests.scripts.conftest import Typed


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> Path:
    """A store that may be changed."""
    return Path(shutil.copytree(tiny_models, tmp_path / "models"))


@pytest.fixture
def retuned(typed: Typed, models: Path, tmp_path: Path) -> Typed:
    """Runs the command on 40 labelled documents."""
    valid = write_corpus(tmp_path / "valid.jsonl", 40, seed=5)
    common = ("--models-dir", models, "--promote", "not-worse")
    return lambda *options: typed("retune", "tiny", valid, *common, *options)


def test_worse_cuts_are_kept_but_not_promoted_and_exit_is_3(
    retuned: Typed, models: Path, tmp_path: Path
) -> None:
    first = Store(models).current("tiny")
    test = write_corpus(tmp_path / "test.jsonl", 60, seed=6)
    code, out, _ = retuned("--decision", "rank:5", "--test", test)
    assert (code, "on 60 test documents" in out) == (3, True)
    assert "is worse than the current version's" in " ".join(out.split())
    assert Store(models).current("tiny") == first
    assert len(Store(models).versions("tiny")) == 2


def test_cuts_that_are_not_worse_are_promoted_by_a_share_that_was_kept_aside(
    retuned: Typed, models: Path
) -> None:
    first = Store(models).current("tiny")
    code, out, _ = retuned("--test", "0.5", "--json", "-")
    result = json.loads(out)
    assert (code, result["promoted"], result["report"]["data"]["documents"]) == (0, True, 20)
    assert Store(models).current("tiny") == result["version"] != first


def test_without_other_documents_to_measure_on_nothing_is_done(
    retuned: Typed, models: Path, tmp_path: Path
) -> None:
    code, _, err = retuned()
    assert (code, "give --test" in err) == (2, True)
    code, _, err = retuned("--test", tmp_path / "valid.jsonl")
    assert (code, "--test is VALID itself" in err) == (2, True)
    assert len(Store(models).versions("tiny")) == 1
