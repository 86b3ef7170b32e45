"""Operators who work on the same store at once; found by seeds of scripts/simulation."""

import os
from datetime import UTC, datetime
from errno import EIO, ENOSPC
from pathlib import Path
from typing import Any

import pytest

from app.artifacts import folders
from app.artifacts.store import Store
from app.errors import DamagedArtifactError, StorageFullError
from tests.artifacts.test_store import a_state, an_info


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "models")


def written(store: Store) -> str:
    return store.write("demo", a_state(), an_info())


def test_a_version_promoted_while_others_are_removed_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = written(store), written(store)
    store.promote("demo", new)
    clean = folders.clean

    def promoted_meanwhile(parent: Path) -> None:
        clean(parent)
        monkeypatch.setattr(folders, "clean", clean)
        store.promote("demo", old)

    removing = [written(store) for _ in range(2)]
    monkeypatch.setattr(folders, "clean", promoted_meanwhile)
    assert store.prune("demo", 1) == [new, removing[0]]
    assert store.current("demo") == old


def test_prune_removes_nothing_where_the_pointer_cannot_be_read(store: Store) -> None:
    versions = [written(store) for _ in range(3)]
    (store.path / "demo" / "current").mkdir()
    with pytest.raises(DamagedArtifactError):
        store.prune("demo", 1)
    assert store.versions("demo") == versions


def test_the_id_of_a_removed_version_is_not_given_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Long(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(2000, 1, 1, tzinfo=UTC)

    written(store)
    monkeypatch.setattr("app.artifacts.store.datetime", Long)  # the clock was set back
    older, removed = written(store), written(store)
    store.remove("demo", removed)
    store.remove("demo", older)  # the newest that is left, and not the newest that ever was
    assert written(store) > removed


def test_a_version_that_another_has_removed_is_not_removed_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, _, current = (written(store) for _ in range(3))
    store.promote("demo", current)
    remove = Store.remove

    def removed_twice(self: Store, name: str, version: str) -> None:
        remove(self, name, version)
        remove(self, name, version)

    monkeypatch.setattr(Store, "remove", removed_twice)
    assert store.prune("demo", 2) == []
    assert old not in store.versions("demo")


def test_a_reader_follows_a_pointer_that_has_moved_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = written(store), written(store)
    store.promote("demo", new)
    said = iter([old, new])
    monkeypatch.setattr("app.artifacts.store._pointer", lambda *_: next(said))
    (store.path / "demo" / old).rename(store.path / "elsewhere")
    assert store.current("demo") == new


def test_a_hidden_folder_that_is_cleaned_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir, made = Path.mkdir, []

    def cleaned(self: Path, *arguments: Any, **named: Any) -> None:
        mkdir(self, *arguments, **named)
        if self.name.startswith(folders.HIDDEN):
            made.append(self)
            if len(made) == 1:
                self.rmdir()

    monkeypatch.setattr(Path, "mkdir", cleaned)
    with folders.unfinished(tmp_path) as folder:
        assert folder == made[1]


def test_a_hidden_file_is_not_cleaned_under_its_writer_when_the_clock_jumps(
    tmp_path: Path,
) -> None:
    target = tmp_path / "current"
    with folders.whole_file(target) as file:
        file.write(b"new")
        (hidden,) = tmp_path.glob(".unfinished-*")
        os.utime(hidden, (0, 0))
        folders.clean(tmp_path)
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_hidden_file_that_is_cleaned_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_held, cleaned = folders._is_held, []

    def clean_first(path: Path, lock: int) -> bool:
        if not cleaned:
            cleaned.append(path)
            os.utime(path, (0, 0))
            folders.clean(tmp_path)
        return is_held(path, lock)

    monkeypatch.setattr(folders, "_is_held", clean_first)
    folders.write_file(tmp_path / "current", b"new")
    assert not cleaned[0].exists()
    assert (tmp_path / "current").read_bytes() == b"new"


def test_a_removal_that_does_not_reach_the_disk_leaves_the_version_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = written(store)
    files = sorted(path.name for path in store.folder("demo", version).iterdir())

    def fail(folder: Path) -> None:
        raise OSError(ENOSPC, "no room")

    monkeypatch.setattr("app.artifacts.folders.sync_folder", fail)
    with pytest.raises(StorageFullError):
        folders.remove_folder(store.folder("demo", version))
    assert sorted(path.name for path in store.folder("demo", version).iterdir()) == files


def test_what_a_killed_removal_left_is_kept_until_its_move_is_on_the_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = store.folder("demo", written(store)).parent
    moved = parent / f"{folders.HIDDEN}0123456789abcdef" / "20000101T000000-000000"
    moved.mkdir(parents=True)

    def fail(folder: Path) -> None:
        raise OSError(EIO, "broken")

    with monkeypatch.context() as broken:
        broken.setattr("app.artifacts.folders.sync_folder", fail)
        folders.clean(parent)
    assert moved.exists()
    folders.clean(parent)
    assert not moved.parent.exists()
