"""Folders that appear whole or not at all, and what killed writers left behind."""

import errno
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.errors import AppError, SettingsError, StorageFullError, errno_text

HIDDEN = ".unfinished-"
LONG_AGO_SECONDS = 3600
NOT_OURS = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}


@contextmanager
def unfinished(parent: Path) -> Iterator[Path]:
    """A new hidden folder, locked while its writer lives; gone afterwards unless renamed.

    The lock is the kernel's (flock on the folder), so it ends with a killed writer too.
    """
    with disk_errors(parent):
        make_folder(parent)
        folder, lock = _locked_folder(parent)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time changes what the folder's names mean; a killed one lets go.

    Where the file system has no locks, nothing is held.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make the folder and those above it where they are missing, through to the disk."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent, mode)
    folder.mkdir(mode, exist_ok=True)
    sync_folder(folder.parent)


def publish(folder: Path, target: Path) -> bool:
    """Give a complete folder its final name, through to the disk; False if the name is taken."""
    sync_folder(folder)
    try:
        folder.rename(target)
    except OSError as failed:
        if failed.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        raise
    sync_folder(target.parent)
    return True


def clean(parent: Path) -> None:
    """Remove what dead writers left hidden: what is not locked, and of files those of long ago."""
    if not (left := list(parent.glob(f"{HIDDEN}*"))):
        return
    try:
        # A version that was moved there keeps its files until no power cut can bring its name back.
        sync_folder(parent)
    except OSError:
        return
    for path in left:
        with suppress(OSError):  # somebody else's to remove, or its writer is alive
            if path.is_dir():
                _remove_unlocked(path)
            elif time.time() - path.stat().st_mtime > LONG_AGO_SECONDS:
                _unlink_unlocked(path)


def remove_folder(folder: Path) -> None:
    """Remove a folder; nobody ever sees half of it under its name."""
    with disk_errors(folder.parent), unfinished(folder.parent) as hidden:
        moved = folder.rename(hidden / folder.name)
        try:
            sync_folder(folder.parent)
        except OSError:
            moved.rename(folder)  # a power cut may bring its name back: its files have to be there
            raise


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file whole or not at all, replacing the old one, through to the disk."""
    with whole_file(path, mode) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write that has its name only once the block has ended, through to the disk."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    with disk_errors(path.parent):
        temporary, descriptor = _locked_file(path.parent, mode)
        try:
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring the folder's own entries through to the disk; what we may not read is not ours."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Failures of the disk inside get our names."""
    try:
        yield
    except AppError:
        raise
    except OSError as failed:
        if failed.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFullError(f"no space left to write in {folder}") from failed
        if failed.errno in NOT_OURS:
            raise SettingsError(f"cannot write in {folder}: {errno_text(failed)}") from failed
        raise


def _remove_unlocked(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(lock)


def _unlink_unlocked(path: Path) -> None:
    """Its age alone says little: a clock may jump while its writer is at work."""
    lock = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = _hidden(parent)
        folder.mkdir()
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # somebody cleaned it already
            continue
        if _is_held(folder, lock):
            return folder, lock


def _locked_file(parent: Path, mode: int) -> tuple[Path, int]:
    while True:
        path = _hidden(parent)
        lock = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        if _is_held(path, lock):
            return path, lock


def _hidden(parent: Path) -> Path:
    return parent / f"{HIDDEN}{secrets.token_hex(8)}"


def _is_held(path: Path, lock: int) -> bool:
    """Lock what was just made; False, and closed, if somebody cleaned it before that."""
    with suppress(OSError):  # a file system without locks: then nothing hidden is cleaned either
        fcntl.flock(lock, fcntl.LOCK_EX)
    if path.exists():
        return True
    os.close(lock)
    return False
