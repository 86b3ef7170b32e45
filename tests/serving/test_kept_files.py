"""Files that processes share: nothing is lost, nothing of others is removed; found by seeds."""

import os
from pathlib import Path
from typing import Any

import pytest

from app.serving.jobs import folders as job_folders
from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.database import open_database
from app.serving.jobs.uploads import UploadStore
from app.serving.keys import KeysFile
from app.serving.spool import Spool
from app.serving.usage_file import Usage, UsageFile


def test_a_key_made_by_another_command_stays(tmp_path: Path) -> None:
    path = tmp_path / "etc" / "keys.json"
    one, other = KeysFile(path), KeysFile(path)
    first, _ = one.create(["predict"])
    second, _ = other.create(["predict"])
    third, _ = one.create(["predict"])
    one.revoke(second.id)
    assert [key.id for key in KeysFile(path).keys()] == [first.id, third.id]  # noqa: SIM118
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_a_killed_command_left_beside_the_keys_goes(tmp_path: Path) -> None:
    left, own = tmp_path / ".unfinished-00", tmp_path / ".keys.json.orig"
    for file in (left, own):
        file.touch()
        os.utime(file, (0, 0))
    KeysFile(tmp_path / "keys.json").create(["predict"])
    assert (left.exists(), own.exists()) == (False, True)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    paths: list[Path] = []
    fsync = os.fsync

    def told(descriptor: int) -> None:
        paths.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", told)
    return paths


def test_the_entries_of_what_is_kept_are_on_the_disk(tmp_path: Path, synced: list[Path]) -> None:
    data = tmp_path / "data"
    KeysFile(tmp_path / "etc" / "keys.json").create(["predict"])
    assert {tmp_path, tmp_path / "etc"} <= set(synced)
    synced.clear()
    job_folders.storage_id(data)
    assert {tmp_path, data} <= set(synced)
    synced.clear()
    file, sha256 = data / "file", "0" * 64
    for _ in range(2):  # the second time, whoever put it there may not have come so far
        file.touch()
        UploadStore(data).put(file, sha256)
        assert {data, data / "uploads"} <= set(synced)
        synced.clear()


def test_what_is_not_of_ours_stays_in_the_spool_and_beside_evaluations(tmp_path: Path) -> None:
    theirs = [tmp_path / "spool" / "notes-2024", tmp_path / "evaluations" / "notes"]
    for folder in theirs:
        folder.mkdir(parents=True)
    spool = Spool(tmp_path)
    spool.open()
    spool.close()
    archive = EvaluationArchive(open_database(None, tmp_path), tmp_path)
    assert archive.folders() == []
    assert all(folder.exists() for folder in theirs)


def test_counts_survive_short_reads_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pread, pwrite = os.pread, os.pwrite
    monkeypatch.setattr(os, "pread", lambda file, size, at: pread(file, min(size, 7), at))
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: pwrite(file, data[:7], at))
    seen: list[Any] = []

    def more(usage: Usage) -> Usage:
        seen.append(usage.documents)
        return usage._replace(documents=usage.documents + 1)

    file = UsageFile(tmp_path / "usage")
    for key in ("a", "b", "a", "b"):
        file.change(key, 1e9, more)
    file.close()
    assert seen == [0, 0, 1, 1]
