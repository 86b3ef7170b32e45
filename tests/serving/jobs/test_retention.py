"""Retention: what goes, what stays, and what a crash between any two steps leaves."""

import os
import shutil
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest

from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.database import Database
from app.serving.jobs.folders import job_folder, results_folder
from app.serving.jobs.job import Job
from app.serving.jobs.leases import JobResult, Leases
from app.serving.jobs.upkeep import retention
from app.serving.jobs.upkeep.retention import KeptRow, Retention, RetentionLimits, beyond
from tests.serving.jobs.made_up import DATA, ERROR, job

UNLIMITED = RetentionLimits(1000)


def row(
    id: str, upload: str = "u", size: int = 10, age: float = 0, pinned: bool = False
) -> KeptRow:
    return KeptRow(id, upload, size, pinned, age)


def ids(rows: list[KeptRow]) -> str:
    return "".join(row.id for row in rows)


def test_the_oldest_go_first_and_pinned_ones_never() -> None:
    rows = [row("a", age=9), row("b", age=8, pinned=True), row("c", age=7), row("d", age=1)]
    assert ids(beyond(UNLIMITED, rows, {})) == ""
    assert ids(beyond(RetentionLimits(3), rows, {})) == "a"
    assert ids(beyond(RetentionLimits(1), rows, {})) == "acd"
    assert ids(beyond(RetentionLimits(4, seconds=5), rows, {})) == "ac"
    assert ids(beyond(RetentionLimits(4, bytes=25), rows, {})) == "ac"


def test_an_upload_is_freed_with_the_last_evaluation_that_has_it() -> None:
    rows = [row("a", "u"), row("b", "u"), row("c", "v")]
    sizes = {"u": 100, "v": 50, "unused": 1000}
    assert ids(beyond(RetentionLimits(9, bytes=180), rows, sizes)) == ""
    assert ids(beyond(RetentionLimits(9, bytes=179), rows, sizes)) == "a"
    assert ids(beyond(RetentionLimits(9, bytes=169), rows, sizes)) == "ab"
    assert ids(beyond(RetentionLimits(9, bytes=59), rows, sizes)) == "abc"


@pytest.fixture
def archive(database: Database, tmp_path: Path) -> EvaluationArchive:
    return EvaluationArchive(database, tmp_path)


@pytest.fixture
def ended(archive: EvaluationArchive, leases: Leases, tmp_path: Path) -> Callable[..., Job]:
    """`ended("content")`: an evaluation of this upload, which is done."""

    def one(content: str, *, fails: bool = False, **values: Any) -> Job:
        file = tmp_path / "received"
        file.write_text(content)
        sha256 = content.encode().hex().ljust(64, "0")
        (stored,) = archive.submit([job("", upload=sha256, **values)], {sha256: file})
        claimed = leases.claim("worker")
        assert claimed is not None
        folder = results_folder(tmp_path, stored.id, claimed.token)
        folder.mkdir(parents=True)
        (folder / "report.json").write_text("{}")
        if fails:
            leases.fail(claimed, ERROR, is_final=True)
        else:
            leases.finish(claimed, JobResult(DATA, 3, {}, 2))
        return stored

    return one


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name != ".lock"}


def test_what_is_beyond_the_limits_goes_with_its_files(
    archive: EvaluationArchive, ended: Callable[..., Job], tmp_path: Path
) -> None:
    first, second, third = ended("a"), ended("a"), ended("b")
    (waiting,) = archive.submit([job("", upload=third.upload)], {third.upload: None})
    archive.table.update(second.id, pinned=True)
    assert Retention(archive, UNLIMITED).apply() == 0
    assert Retention(archive, RetentionLimits(1)).apply() == 2
    assert {one.id for one in archive.table.page().jobs} == {second.id, waiting.id}
    assert names(job_folder(tmp_path, "")) == {second.id}
    assert names(tmp_path / "uploads") == {first.upload, third.upload}


def test_evaluations_of_other_data_folders_are_left_alone(
    archive: EvaluationArchive, ended: Callable[..., Job], database: Database, tmp_path: Path
) -> None:
    ended("a")
    other = EvaluationArchive(database, tmp_path / "other")
    assert Retention(other, RetentionLimits(1, seconds=-1)).apply() == 0
    assert len(archive.table.page().jobs) == 1


def test_tries_that_do_not_count_are_removed(
    archive: EvaluationArchive,
    ended: Callable[..., Job],
    leases: Leases,
    tmp_path: Path,
) -> None:
    failed = ended("a", fails=True)
    (again,) = archive.submit([job("", upload=failed.upload)], {failed.upload: None})
    for number in (1, 2, 3):
        claimed = leases.claim("worker")
        assert claimed is not None
        results_folder(tmp_path, again.id, number).mkdir(parents=True)
        if number < 3:
            leases.release(claimed)
    Retention(archive, UNLIMITED).clean()
    assert names(job_folder(tmp_path, again.id)) == {"3"}
    assert names(job_folder(tmp_path, failed.id)) == set()


def test_a_folder_without_a_row_stays_for_a_day(
    archive: EvaluationArchive, ended: Callable[..., Job], tmp_path: Path
) -> None:
    kept = ended("a")
    lost = job_folder(tmp_path, "0" * 32)
    (lost / "1").mkdir(parents=True)
    Retention(archive, UNLIMITED).clean()
    assert lost.exists()
    for folder in (lost, job_folder(tmp_path, kept.id)):
        old = folder.stat().st_mtime - retention.UNKNOWN_SECONDS - 1
        os.utime(folder, (old, old))
    Retention(archive, UNLIMITED).clean()
    assert names(job_folder(tmp_path, "")) == {kept.id}


class PowerCutError(BaseException):
    pass


def test_a_crash_between_any_two_steps_loses_nothing_that_is_listed_and_leaves_nothing_else(
    archive: EvaluationArchive,
    ended: Callable[..., Job],
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retention, "UNKNOWN_SECONDS", -10)
    call, was_cut = 0, True
    while was_cut:
        call += 1
        for content in "abbc":
            ended(content)
        was_cut = cut_at(call, lambda: Retention(archive, RetentionLimits(1)).apply(), monkeypatch)
        listed = archive.table.page().jobs
        for one in listed:
            assert archive.result(one, "report.json").exists()
            assert archive.uploads.path(one.upload)
        again = Retention(archive, RetentionLimits(1))
        again.apply()
        again.clean()
        archive.uploads.remove_unused(archive.is_used, seconds=-10)
        (last,) = archive.table.page().jobs
        assert names(job_folder(tmp_path, "")) == {last.id}
        assert names(tmp_path / "uploads") == {last.upload}
    assert call > 6


def cut_at(call: int, run: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run until the system call or statement of this number; whether it was reached."""
    left = call

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                raise PowerCutError
            return real(*arguments, **options)

        return step

    with monkeypatch.context() as patch:
        patch.setattr(Database, "rows", counted(Database.rows))
        patch.setattr(shutil, "rmtree", counted(shutil.rmtree))
        patch.setattr(Path, "unlink", counted(Path.unlink))
        try:
            run()
        except PowerCutError:
            return True
    return False


def test_no_limit_is_one(archive: EvaluationArchive, ended: Callable[..., Job]) -> None:
    ended("a")
    assert Retention(archive, RetentionLimits(1, inf, inf)).apply() == 0
