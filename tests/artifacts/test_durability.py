"""What was acknowledged is on the disk: nothing gets its final name before its content is there."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from app.artifacts.store import Store
from app.errors import StorageFullError
from tests.artifacts.test_store import a_state, an_info


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """('synced', path) and ('named', path), in the order in which they happened."""
    happened: list[tuple[str, str]] = []
    fsync, rename, replace = os.fsync, Path.rename, Path.replace

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        happened.append(("synced", os.readlink(f"/proc/self/fd/{descriptor}")))

    def named(move: Any) -> Any:
        def moved(self: Path, target: Path) -> Path:
            happened.append(("named", f"{self} {target}"))
            return move(self, target)

        return moved

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", named(rename))
    monkeypatch.setattr(Path, "replace", named(replace))
    return happened


def test_a_name_is_given_after_its_content_and_then_kept(
    tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    store = Store(tmp_path / "models")
    version = store.write("demo", a_state(), an_info())
    assert_kept(events, n_names=2)  # the manifest, the version's folder
    events.clear()
    store.promote("demo", version)
    assert_kept(events, n_names=1)  # the pointer


def assert_kept(events: list[tuple[str, str]], *, n_names: int) -> None:
    """What got a name had its content on the disk before, and its folder's entry after."""
    names = [number for number, (what, _) in enumerate(events) if what == "named"]
    assert len(names) == n_names
    for number in names:
        source, target = events[number][1].split()
        assert ("synced", source) in events[:number], f"{source} may be empty after a crash"
        parent = ("synced", str(Path(target).parent))
        assert parent in events[number:], f"{target} may be gone after a crash"


def test_every_file_of_a_version_is_on_the_disk_before_the_version_is(
    tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    store = Store(tmp_path / "models")
    version = store.write("demo", a_state(), an_info())
    before = [Path(path).name for what, path in events if what == "synced"]
    arrays = {path.name for path in (store.path / "demo" / version).glob("*.npy")}
    assert arrays <= set(before)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(code, "no room")

    monkeypatch.setattr(os, "fsync", full)
    store = Store(tmp_path / "models")
    with pytest.raises(StorageFullError, match="no space left to write in"):
        store.write("demo", a_state(), an_info())
    assert store.names() == []
    assert list((tmp_path / "models").rglob("*.npy")) == []
