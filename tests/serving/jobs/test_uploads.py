"""Uploads by their hash: whole or not there, removed only when nobody refers to them."""

import errno
import fcntl
import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from app.errors import StorageFullError, UploadNotFoundError
from app.serving.jobs.uploads import UNUSED_SECONDS, UploadStore

CONTENT = b"a test set"
NAME = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def uploads(tmp_path: Path) -> UploadStore:
    return UploadStore(tmp_path / "var")


@pytest.fixture
def received(tmp_path: Path) -> Callable[[], Path]:
    """A new file of the spool, with the content."""

    def file() -> Path:
        path = tmp_path / f"received-{len(list(tmp_path.iterdir()))}"
        path.write_bytes(CONTENT)
        return path

    return file


def unused(sha256: str) -> bool:
    return False


def grown_old(uploads: UploadStore) -> None:
    old = os.stat(uploads.path(NAME)).st_mtime - UNUSED_SECONDS - 1
    os.utime(uploads.path(NAME), (old, old))


def test_a_file_is_found_by_its_hash_and_kept_once(
    uploads: UploadStore, received: Callable[[], Path]
) -> None:
    with pytest.raises(UploadNotFoundError):
        uploads.path(NAME)
    assert uploads.put(received(), NAME)
    again = received()
    assert not uploads.put(again, NAME)
    assert again.exists()  # left to the spool
    assert uploads.path(NAME).read_bytes() == CONTENT
    assert uploads.sizes() == {NAME: len(CONTENT)}


def test_a_file_that_was_cut_short_is_replaced(
    uploads: UploadStore, received: Callable[[], Path]
) -> None:
    uploads.put(received(), NAME)
    uploads.path(NAME).write_bytes(CONTENT[:3])
    assert uploads.put(received(), NAME)
    assert uploads.path(NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["../keys.json", ".lock", NAME[:-1], NAME.upper(), f"{NAME}\n"])
def test_only_hashes_are_names(
    uploads: UploadStore, received: Callable[[], Path], name: str
) -> None:
    uploads.put(received(), NAME)
    with pytest.raises(UploadNotFoundError):
        uploads.path(name)
    assert not uploads.remove(name, unused)


def test_an_unused_file_stays_for_an_hour_after_it_was_sent_or_asked_for(
    uploads: UploadStore, received: Callable[[], Path]
) -> None:
    uploads.put(received(), NAME)
    assert uploads.remove_unused(unused) == []
    grown_old(uploads)
    uploads.put(received(), NAME)
    assert uploads.remove_unused(unused) == []
    grown_old(uploads)
    assert uploads.remove_unused(lambda name: name == NAME) == []
    assert uploads.remove_unused(unused) == [NAME]
    assert uploads.sizes() == {}


def test_a_file_is_not_removed_while_somebody_comes_to_refer_to_it(
    uploads: UploadStore, received: Callable[[], Path]
) -> None:
    uploads.put(received(), NAME)
    used: set[str] = set()
    removing = threading.Thread(target=uploads.remove, args=(NAME, used.__contains__))
    with uploads.held(), uploads.held():  # several may refer at the same time
        removing.start()
        removing.join(0.2)
        assert removing.is_alive()
        used.add(NAME)
    removing.join(30)
    assert uploads.path(NAME)


def test_a_crash_at_any_system_call_leaves_a_whole_file_or_none(
    uploads: UploadStore, received: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerCutError(Exception):
        pass

    def fails_at(call: int, patch: pytest.MonkeyPatch) -> None:
        count = 0

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any, **options: Any) -> Any:
                nonlocal count
                count += 1
                if count == call:
                    raise PowerCutError
                return real(*arguments, **options)

            return run

        for name in ("fsync", "rename", "utime", "mkdir"):
            patch.setattr(os, name, counted(getattr(os, name)))

    for call in range(1, 20):
        with monkeypatch.context() as patch:
            fails_at(call, patch)
            try:
                uploads.put(received(), NAME)
            except PowerCutError:
                assert uploads.sizes() in ({}, {NAME: len(CONTENT)})
                uploads.remove(NAME, unused)
            else:
                break
    assert call > 4
    assert uploads.path(NAME).read_bytes() == CONTENT


def test_a_full_disk_is_said_to_be_full(
    uploads: UploadStore, received: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFullError):
        uploads.put(received(), NAME)
    assert uploads.sizes() == {}


def test_whoever_dies_leaves_no_lock(uploads: UploadStore, received: Callable[[], Path]) -> None:
    uploads.put(received(), NAME)
    child = os.fork()
    if not child:
        descriptor = os.open(uploads.folder / ".lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os._exit(0)
    os.waitpid(child, 0)
    assert uploads.remove(NAME, unused)
