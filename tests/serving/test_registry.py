"""The registry: what one model does to the others."""

from pathlib import Path
from shutil import copytree

import pytest

from app.artifacts.store import Store
from app.model import Model, load_model
from app.serving import registry
from app.serving.registry import Registry


def test_a_model_that_fails_in_an_unforeseen_way_leaves_the_others_alone(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broken", "tiny"):
        copytree(tiny_models / "tiny", tmp_path / name)

    def load(store: Store, reference: str) -> Model:
        if reference.startswith("broken"):
            raise RuntimeError("words of a document")
        return load_model(store, reference)

    monkeypatch.setattr(registry, "load_model", load)
    found = Registry(Store(tmp_path), required=("tiny",))
    found.refresh()
    assert list(found.loaded) == ["tiny"]
    assert found.missing() == []
    assert found.failures["broken"].reason == "RuntimeError"


def test_a_version_that_was_never_promoted_is_no_model_yet(
    tiny_models: Path, tmp_path: Path
) -> None:
    for name in ("candidate", "tiny"):
        copytree(tiny_models / "tiny", tmp_path / name)
    (tmp_path / "candidate" / "current").unlink()
    found = Registry(Store(tmp_path))
    found.refresh()
    assert found.missing() == []
    assert list(found.loaded) == ["tiny"]
    assert not found.failures
