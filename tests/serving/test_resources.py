"""Work is refused before memory or disk are used up."""

import os
import resource
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.errors import OverloadedError, StorageFullError
from app.resources import memory
from app.resources.memory import MemoryUse, usages
from app.serving.admission import Admission, BodyBudget
from app.serving.resources.guard import ResourceGuard


def guard(folder: Path, used: int, *, memory: float = 90, disk: float = 100) -> ResourceGuard:
    known = [MemoryUse(1, 1 << 40), MemoryUse(used, 100 << 20)]
    options = {"memory_percent": memory, "disk_percent": disk}
    return ResourceGuard(folder, **options, memory=lambda: known)


def test_work_is_refused_above_the_share_that_may_be_used(tmp_path: Path) -> None:
    guard(tmp_path, 90 << 20).check_memory()
    with pytest.raises(OverloadedError):
        guard(tmp_path, 91 << 20).check_memory()


def test_a_body_is_refused_that_would_need_more_than_is_left(tmp_path: Path) -> None:
    checked = guard(tmp_path, 85 << 20).check_memory
    with BodyBudget(Admission(100 << 20, "bodies"), checked) as budget:
        budget.take(100)
        budget.take(1 << 20)
        with pytest.raises(OverloadedError):  # three times what is under way, and this
            budget.take(1 << 20)


def test_the_disk_is_looked_at_where_the_data_will_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statvfs = os.statvfs

    def nearly_full(path: Path) -> object:
        statvfs(path)
        return SimpleNamespace(f_blocks=100, f_bavail=2)

    monkeypatch.setattr(os, "statvfs", nearly_full)
    guard(tmp_path / "not" / "yet", 0, disk=98).check_disk()
    short = guard(tmp_path, 0, disk=97)
    with pytest.raises(StorageFullError):
        short.check_disk()
    assert short.ratios()["disk"] == pytest.approx(98 / 97)


def test_the_memory_of_the_machine_and_of_an_rlimit_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = len(list(usages()))
    assert all(0 < usage.used < usage.limit for usage in usages())
    limits = {resource.RLIMIT_AS: 1 << 50, resource.RLIMIT_DATA: 1 << 51}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], limits[kind]))
    found = {usage.limit: usage.used for usage in usages()}
    assert len(found) == before + 2
    assert found[1 << 50] > found[1 << 51] > 0


@pytest.mark.parametrize("version", [1, 2])
def test_the_memory_of_a_cgroup_is_what_cannot_be_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    line = "0::/kube/pod" if version == 2 else "9:name=x:/\n4:cpu,memory:/kube/pod"
    names = {
        2: ("", "memory.max", "memory.current", "inactive_file"),
        1: ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    }
    folder, limit, used, droppable = names[version]
    group = tmp_path / "groups" / folder / "kube" / "pod"
    group.mkdir(parents=True)
    (tmp_path / "cgroup").write_text(line)
    (group / limit).write_text("1000\n")
    (group / used).write_text("700\n")
    (group / "memory.stat").write_text(f"anon 1\n{droppable} 200\n")
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "groups")
    assert MemoryUse(500, 1000) in list(usages())
