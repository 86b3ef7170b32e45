"""Accounting: each end is counted once, by one process, for telemetry and for the key."""

from pathlib import Path
from time import time

import pytest

from app.serving.identity import KeyLimits
from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.database import Database, open_database
from app.serving.jobs.leases import Leases
from app.serving.jobs.upkeep.accounting import Accounting
from app.serving.jobs.upkeep.retention import Retention, RetentionLimits
from app.serving.jobs.upkeep.upkeep import Upkeep
from app.serving.keys import KeysFile
from app.serving.quotas import Quotas
from app.serving.telemetry.telemetry import Telemetry
from app.serving.usage_file import Usage, UsageFile
from tests.serving.jobs.made_up import ERROR, RESULT, job


@pytest.fixture
def archive(database: Database, tmp_path: Path) -> EvaluationArchive:
    return EvaluationArchive(database, tmp_path)


def accounting(
    archive: EvaluationArchive, tmp_path: Path, keys: KeysFile | None = None
) -> tuple[Accounting, Telemetry, Quotas]:
    telemetry, quotas = Telemetry(), Quotas(tmp_path)
    return Accounting(archive, telemetry, quotas, keys), telemetry, quotas


def numbers(telemetry: Telemetry, name: str) -> dict[tuple[str, ...], list[float]]:
    (found,) = [family for family in telemetry.snapshot() if family.name == name]
    return found.series


def test_what_has_ended_is_counted_by_one_of_two_processes(
    archive: EvaluationArchive, leases: Leases, tmp_path: Path
) -> None:
    archive.table.submit(job(archive.storage) for _ in range(4))
    for fails in (False, True):
        claimed = leases.claim("worker")
        assert claimed is not None
        if fails:
            leases.fail(claimed, ERROR, is_final=True)
        else:
            leases.finish(claimed, RESULT)
    leases.claim("worker")
    first, ours, _ = accounting(archive, tmp_path)
    second, theirs, _ = accounting(archive, tmp_path)
    for one in (first, second, first):
        one.count()
    for telemetry in (ours, theirs):
        assert numbers(telemetry, "labelserve_evaluations") == {("queued",): [1], ("running",): [1]}
        assert numbers(telemetry, "labelserve_evaluation_oldest_queued_seconds")[()][0] >= 0
    assert numbers(ours, "labelserve_evaluation_failures") == {("internal",): [1]}
    assert sum(numbers(ours, "labelserve_evaluation_seconds")[()][:-1]) == 1
    assert numbers(ours, "labelserve_documents") == {("tiny", "/evaluations"): [3]}
    assert numbers(theirs, "labelserve_evaluation_failures") == {}
    assert numbers(theirs, "labelserve_evaluation_seconds") == {}


def test_documents_count_for_the_key_that_handed_them_in(
    archive: EvaluationArchive, leases: Leases, tmp_path: Path
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    key, _ = keys.create(["evaluate"], limits=KeyLimits(documents_per_day=10))
    archive.table.submit([job(archive.storage, owner=key.id)])
    claimed = leases.claim("worker")
    assert claimed is not None
    leases.finish(claimed, RESULT)
    counted, _, quotas = accounting(archive, tmp_path, keys)
    counted.count()
    quotas._thread.shutdown(wait=True)
    seen: list[Usage] = []

    def noted(usage: Usage) -> Usage:
        seen.append(usage)
        return usage

    UsageFile(tmp_path / "usage").change(key.id, time(), noted)
    assert seen[0].documents == 3


def test_evaluations_of_a_revoked_key_are_cancelled(
    archive: EvaluationArchive, leases: Leases, tmp_path: Path
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    revoked, limited, fine = (
        keys.create(["evaluate"])[0],
        keys.create(["evaluate"], ["other-*"])[0],
        keys.create(["evaluate"])[0],
    )
    owners = [revoked.id, revoked.id, limited.id, fine.id, None]
    stored = archive.table.submit(job(archive.storage, owner=owner) for owner in owners)
    leases.claim("worker")
    keys.revoke(revoked.id)
    accounting(archive, tmp_path, keys)[0].cancel_revoked()
    states = [found.state for one in stored if (found := archive.table.get(one.id))]
    assert states == ["cancelled", "cancelled", "cancelled", "queued", "queued"]


def test_the_upload_of_an_evaluation_that_keeps_none_goes_with_its_end(
    archive: EvaluationArchive, leases: Leases, tmp_path: Path
) -> None:
    for keep, stays in ((True, True), (False, True), (False, False)):
        upload = ("1" if stays else "2") * 64
        (tmp_path / "received").write_text("content")
        archive.submit([job("", upload=upload, keep=keep)], {upload: tmp_path / "received"})
        claimed = leases.claim("worker")
        assert claimed is not None
        leases.finish(claimed, RESULT)
        accounting(archive, tmp_path)[0].count()
        assert (tmp_path / "uploads" / upload).exists() == stays


def test_upkeep_goes_on_when_the_database_is_away(tmp_path: Path) -> None:
    (tmp_path / "jobs.sqlite").write_text("this is no database" * 100)
    archive = EvaluationArchive(open_database(None, tmp_path), tmp_path)
    failures: list[str] = []
    retention = Retention(archive, RetentionLimits(1))
    upkeep = Upkeep(archive, accounting(archive, tmp_path)[0], retention, failures.append)
    upkeep.look()
    assert set(failures) == {"jobs-unavailable"}
    (tmp_path / "jobs.sqlite").unlink()
    for step in upkeep._steps:
        step._next = 0.0
    failures.clear()
    upkeep.look()
    assert failures == []
    assert not (tmp_path / "jobs.sqlite").exists()  # nothing to look after
    archive.table.counts()
    upkeep.look()
    assert failures == []
