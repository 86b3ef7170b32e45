"""Faults that are planted into the code under test, to see that seeds find them."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

from simulation.database import SimulatedSqlite

from app.artifacts import folders, npy, store
from app.artifacts.manifest import manifest_bytes
from app.artifacts.versions import next_version
from app.serving import keys, spool, usage_file
from app.serving.jobs import folders as job_folders
from app.serving.jobs import leases, uploads
from app.serving.jobs.upkeep import retention

Plant = Callable[[], AbstractContextManager[Any]]


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Another value of an attribute, while the block lasts."""
    before = owner.__dict__[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _nothing(*arguments: Any, **named: Any) -> None:
    """What is left out."""


class _WithoutFsync:
    """The module os, but for fsync."""

    fsync = staticmethod(_nothing)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


class _WithoutLocks:
    """The module fcntl, whose locks hold nobody up."""

    LOCK_EX = LOCK_SH = LOCK_NB = LOCK_UN = 0
    flock = staticmethod(_nothing)


@contextmanager
def _not_locked(folder: Path) -> Iterator[None]:
    yield


def _published_early(self: Any, folder: Path, parent: Path, fields: dict[str, Any]) -> str:
    """The version gets its name, and then its manifest."""
    version = next_version(store.datetime.now(UTC), store._newest_ever(parent))  # type: ignore[attr-defined]
    folders.publish(folder, parent / version)
    content = manifest_bytes({**fields, "version": version, "created": ""})
    folders.write_file(parent / version / "manifest.json", content)
    return version


def _written_in_place(path: Path, content: bytes, mode: int = 0o666) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    folders.sync_folder(path.parent)


def _cleaned_without_asking(parent: Path) -> None:
    for path in parent.glob(f"{folders.HIDDEN}*"):
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _removed_in_place(folder: Path) -> None:
    shutil.rmtree(folder)
    folders.sync_folder(folder.parent)


def _removed_file_first(self: Any, sha256: str, is_used: Any, **named: Any) -> bool:
    with suppress(FileNotFoundError):
        (self.folder / sha256).unlink()
    return True


def _read_once(descriptor: int) -> bytes:
    return os.pread(descriptor, usage_file.MOST_BYTES, 0)


def _without_token(self: Any, statement: str, job: Any, values: Any) -> bool:
    text = statement.replace("AND token = :token", "")
    return bool(self._database.rows(text, id=job.id, **values))


PLANTS: dict[str, tuple[str, Plant]] = {
    "one fsync left out: an array": ("models", partial(replaced, npy, "os", _WithoutFsync())),
    "one fsync left out: a folder's entries": (
        "models",
        partial(replaced, folders, "sync_folder", _nothing),
    ),
    "a rename before the manifest": (
        "models",
        partial(replaced, store.Store, "_published", _published_early),
    ),
    "a lease checked by the worker's own clock": (
        "evaluations",
        partial(replaced, SimulatedSqlite, "clock", "own_now()"),
    ),
    "the pointer written in place": (
        "models",
        partial(replaced, folders, "write_file", _written_in_place),
    ),
    "promoting and removing without a lock": (
        "models",
        partial(replaced, folders, "locked", _not_locked),
    ),
    "a living writer's folder cleaned": (
        "models",
        partial(replaced, folders, "clean", _cleaned_without_asking),
    ),
    "a version removed under its name": (
        "models",
        partial(replaced, folders, "remove_folder", _removed_in_place),
    ),
    "nothing ever cleaned": ("models", partial(replaced, folders, "clean", _nothing)),
    "ids of removed versions forgotten": (
        "models",
        partial(replaced, store, "_newest_ever", store._newest),
    ),
    "keys changed without a lock": ("keys", partial(replaced, folders, "locked", _not_locked)),
    "keys written in place": ("keys", partial(replaced, folders, "write_file", _written_in_place)),
    "a keys file that is not synced": ("keys", partial(replaced, folders, "os", _WithoutFsync())),
    "a key revoked in memory alone": (
        "keys",
        partial(replaced, keys.KeysFile, "revoke", _nothing),
    ),
    "a spool without locks": ("spool", partial(replaced, spool, "fcntl", _WithoutLocks())),
    "a spool that keeps what the dead left": (
        "spool",
        partial(replaced, spool.Spool, "_clean", _nothing),
    ),
    "usage counted without a lock": (
        "usage",
        partial(replaced, usage_file, "fcntl", _WithoutLocks()),
    ),
    "a short read taken for the whole file": (
        "usage",
        partial(replaced, usage_file, "_content", _read_once),
    ),
    "an upload that is not synced": (
        "evaluations",
        partial(replaced, uploads, "_sync_file", _nothing),
    ),
    "an upload removed while it is used": (
        "evaluations",
        partial(replaced, uploads.UploadStore, "remove", _removed_file_first),
    ),
    "results that are not synced": (
        "evaluations",
        partial(replaced, job_folders, "sync_folder", _nothing),
    ),
    "a try that is not fenced by its token": (
        "evaluations",
        partial(replaced, leases.Leases, "_written", _without_token),
    ),
    "old tries never removed": (
        "evaluations",
        partial(replaced, retention.Retention, "_remove_unknown_folders", _nothing),
    ),
}
