"""The registry: what one model does to the others."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import copytree, rmtree
from typing import NoReturn

import pytest

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.errors import ModelNotFoundError, ModelUnavailableError
from app.model import Model, load_model
from app.prediction import Query
from app.serving import failures, registry
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


def test_a_model_is_loading_from_when_it_is_found_until_it_answers_or_failed(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broken", "tiny"):
        copytree(tiny_models / "tiny", tmp_path / name)
    seen: list[tuple[list[str], set[str]]] = []

    def states() -> tuple[list[str], set[str]]:
        return found.names, set(found.names) - found.loaded.keys() - found.failures.keys()

    def load(store: Store, reference: str) -> Model:
        seen.append(states())
        with pytest.raises(ModelUnavailableError, match="is being loaded"):
            found.get("tiny")
        if reference.startswith("broken"):
            raise RuntimeError
        return load_model(store, reference)

    monkeypatch.setattr(registry, "load_model", load)
    found = Registry(Store(tmp_path))
    found.refresh()
    both = ["broken", "tiny"]
    assert seen == [(both, {"broken", "tiny"}), (both, {"tiny"})]
    assert states() == (both, set())


def test_a_model_that_is_new_and_still_loading_does_not_make_the_service_unready(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copytree(tiny_models / "tiny", tmp_path / "tiny")
    found = Registry(Store(tmp_path))
    found.refresh()
    copytree(tiny_models / "tiny", tmp_path / "new")
    missing: list[list[str]] = []

    def load(store: Store, reference: str) -> Model:
        missing.append(found.missing())
        return load_model(store, reference)

    monkeypatch.setattr(registry, "load_model", load)
    found.refresh()
    assert missing == [[]]


def test_models_are_loaded_again_for_other_kernels_and_one_that_fails_stays(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broken", "tiny"):
        copytree(tiny_models / "tiny", tmp_path / name)
    store = Store(tmp_path)
    version = store.versions("tiny")[0]
    found = Registry(store, required=(f"tiny@{version}",))
    found.refresh()
    before = dict(found.loaded)

    def load(store: Store, reference: str) -> Model:
        if reference.startswith("broken"):
            raise RuntimeError
        return load_model(store, reference)

    monkeypatch.setattr(registry, "load_model", load)
    found.reload()
    assert found.get("broken") is before["broken"]
    assert found.get("tiny") is not before["tiny"]
    assert found.get("tiny") is found.get(f"tiny@{version}")


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


def versions_of(tiny_models: Path, folder: Path) -> tuple[Store, str, str]:
    """A store with two versions of `tiny`, the older one current."""
    copytree(tiny_models / "tiny", folder / "tiny")
    store = Store(folder)
    old = store.versions("tiny")[0]
    model = load_model(store, "tiny")
    golden = [one.model_dump(exclude_none=True) for one in model.manifest.golden]
    info = Info("0" * 64, model.manifest.data.counts, model.training_counts, golden=golden)
    return store, old, store.write("tiny", model.classifier.state(), info)


def test_an_old_version_answers_by_its_name_until_its_last_request_has_ended(
    tiny_models: Path, tmp_path: Path
) -> None:
    store, old, new = versions_of(tiny_models, tmp_path)
    found = Registry(store)
    found.refresh()
    under_way = found.get("tiny")
    store.promote("tiny", new)
    found.refresh()
    assert found.get("tiny").model.version == found.get(f"tiny@{new}").model.version == new
    assert found.get(f"tiny@{old}") is under_way
    assert found.versions("tiny") == [old, new]
    del under_way
    with pytest.raises(ModelNotFoundError, match=new):
        found.get(f"tiny@{old}")


def test_a_required_version_stays_loaded_beside_the_current_one(
    tiny_models: Path, tmp_path: Path
) -> None:
    store, old, new = versions_of(tiny_models, tmp_path)
    found = Registry(store, required=("tiny", f"tiny@{old}", f"tiny@{new}"))
    found.refresh()
    assert found.missing() == []
    assert found.get("tiny").model.version == old
    store.promote("tiny", new)
    found.refresh()
    assert found.get("tiny") is found.get(f"tiny@{new}")
    assert found.get(f"tiny@{old}").model.version == old
    absent = f"tiny@{old[:-1]}{'0' if old[-1] != '0' else '1'}"
    waiting = Registry(store, required=(absent,))
    waiting.refresh()
    assert waiting.missing() == [absent]
    with pytest.raises(ModelUnavailableError, match=new):
        waiting.get(absent)


class Clock:
    """Time that passes when it is told to, and only for what waits for failed loads."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(failures, "monotonic", found)
    return found


def broken(version: Path) -> Path:
    """Damage a version; the file to put back is returned."""
    return (version / "labels.npy").rename(version / "labels.npy.aside")


def test_a_broken_version_is_tried_again_after_growing_waits(
    tiny_models: Path, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second, then twice as long each time, and never longer than a minute."""
    copytree(tiny_models / "tiny", tmp_path / "tiny")
    store, tried = Store(tmp_path), list[float]()
    broken(tmp_path / "tiny" / store.versions("tiny")[0])

    def load(store: Store, reference: str) -> Model:
        tried.append(clock.now - 1000)
        return load_model(store, reference)

    monkeypatch.setattr(registry, "load_model", load)
    found = Registry(store)
    while clock.now < 1250:
        found.refresh()
        clock.now += 0.5
    assert tried == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]


def test_a_version_that_was_repaired_is_loaded_when_its_wait_is_over(
    tiny_models: Path, tmp_path: Path, clock: Clock
) -> None:
    store, _, new = versions_of(tiny_models, tmp_path)
    aside = broken(tmp_path / "tiny" / new)
    store.promote("tiny", new)
    found = Registry(store)
    for _ in range(3):  # at 0, 1 and 3 seconds
        found.refresh()
        clock.now = found.failures["tiny"].retry_at
    aside.rename(aside.with_suffix(""))
    clock.now -= 0.5
    found.refresh()
    assert "tiny" not in found.loaded
    clock.now += 0.5
    found.refresh()
    assert found.get("tiny").model.version == new
    assert not found.failures


def test_another_version_does_not_wait_for_the_broken_one_and_begins_its_own_waits(
    tiny_models: Path, tmp_path: Path, clock: Clock
) -> None:
    store, old, new = versions_of(tiny_models, tmp_path)
    for version in (old, new):
        broken(tmp_path / "tiny" / version)
    found = Registry(store)
    for _ in range(4):
        found.refresh()
        clock.now = found.failures["tiny"].retry_at
    assert (found.failures["tiny"].version, found.failures["tiny"].wait) == (old, 8)
    store.promote("tiny", new)
    clock.now -= 5
    found.refresh()
    assert (found.failures["tiny"].version, found.failures["tiny"].wait) == (new, 1)


def test_a_bad_version_is_counted_once_and_by_its_own_reason(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "FIRST_RETRY", 0.0)
    store, old, new = versions_of(tiny_models, tmp_path)
    (tmp_path / "tiny" / new / "labels.npy").unlink()
    store.promote("tiny", new)
    counted: list[tuple[str, str]] = []
    found = Registry(store, on_failure=lambda name, kind: counted.append((name, kind)))
    for _ in range(3):
        found.refresh()
    assert counted == [("tiny", "damaged-artifact")]
    assert "lacks labels.npy" in found.failures["tiny"].reason
    store.promote("tiny", old)
    found.refresh()
    assert not found.failures


def test_plans_of_ever_new_queries_take_bounded_memory(
    tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "MOST_PLANS", 3)
    monkeypatch.setattr(registry, "MOST_LABELS_KEPT", 2)
    found = Registry(Store(tiny_models))
    found.refresh()
    loaded = found.get(None)
    for k in range(1, 6):
        assert loaded.plan(Query(top_k=k)) is loaded.known_plan(Query(top_k=k))
    assert sum(loaded.known_plan(Query(top_k=k)) is not None for k in range(1, 6)) <= 3
    many = Query(labels=("billing", "crash", "login"))
    assert loaded.plan(many).predictions(["refund"])
    assert loaded.known_plan(many) is None


def test_a_required_version_that_cannot_be_loaded_waits_between_its_trials(
    tiny_models: Path, tmp_path: Path, clock: Clock
) -> None:
    copytree(tiny_models / "tiny", tmp_path / "tiny")
    never, seen = "tiny@20200101T000000-000000", list[str]()
    found = Registry(
        Store(tmp_path), required=(never,), on_failure=lambda name, kind: seen.append(name)
    )
    for _ in range(5):
        found.refresh()
        clock.now += 0.1
    assert (found.missing(), seen) == ([never], ["tiny"])
    with pytest.raises(ModelUnavailableError):
        found.get(never)


def fails_with(number: int) -> Callable[..., NoReturn]:
    def failing(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return failing


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.ESTALE])
@pytest.mark.parametrize("call", ["scandir", "listdir"])
def test_a_look_that_fails_changes_nothing(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str
) -> None:
    copytree(tiny_models / "tiny", tmp_path / "tiny")
    found = Registry(Store(tmp_path))
    found.refresh()
    loaded = found.get(None)
    with monkeypatch.context() as failing:
        failing.setattr(f"app.artifacts.store.os.{call}", fails_with(number))
        with suppress(OSError):
            found.refresh()
        assert found.get(None) is found.get("tiny") is loaded
        assert found.missing() == []
    found.refresh()
    assert found.get("tiny") is loaded
    assert not found.failures


def without_pointer(model: Path) -> None:
    (model / "current").rename(model / "aside")


def without_versions(model: Path) -> None:
    for version in model.glob("2*"):
        version.rename(model / "aside")


def behind_a_folder(model: Path) -> None:
    (model / "current").unlink()
    (model / "current").mkdir()


@pytest.mark.parametrize("damage", [without_pointer, without_versions, behind_a_folder])
def test_a_loaded_model_goes_on_until_its_pointer_names_another_version(
    tiny_models: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    copytree(tiny_models / "tiny", tmp_path / "tiny")
    counted = list[str]()
    found = Registry(Store(tmp_path), on_failure=lambda name, kind: counted.append(name))
    found.refresh()
    loaded = found.get("tiny")
    damage(tmp_path / "tiny")
    for _ in range(2):
        found.refresh()
        assert found.get("tiny") is loaded
        assert loaded.plan(Query()).predictions(["refund"])
    assert (counted, list(found.failures), found.missing()) == (["tiny"], ["tiny"], [])


def test_of_a_folder_that_still_has_models_the_others_were_removed(
    tiny_models: Path, tmp_path: Path
) -> None:
    """A folder without any is one that is not mounted: then nothing was removed."""
    for name in ("other", "tiny"):
        copytree(tiny_models / "tiny", tmp_path / name)
    found = Registry(Store(tmp_path))
    found.refresh()
    rmtree(tmp_path / "other")
    found.refresh()
    assert (list(found.loaded), found.missing()) == (["tiny"], [])
    rmtree(tmp_path / "tiny")
    with pytest.raises(FileNotFoundError):
        found.refresh()
    assert (list(found.loaded), found.missing()) == (["tiny"], [])
