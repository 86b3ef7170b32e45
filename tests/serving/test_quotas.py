"""Quotas: requests a minute and documents a day, counted together by all processes of a folder."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.errors import QuotaExceededError
from app.serving.identity import Identity, KeyLimits
from app.serving.quotas import Quotas
from app.serving.usage_file import RECORD, Usage, UsageFile

pytestmark = pytest.mark.anyio

NOON = 20_000 * 86_400 + 43_200.0
COUNTING = """
import asyncio, sys
from pathlib import Path
from app.errors import QuotaExceededError
from app.serving.identity import Identity, KeyLimits
from app.serving.quotas import Quotas

async def main():
    quotas, taken = Quotas(Path(sys.argv[1])), 0
    caller = Identity("one", frozenset(), limits=KeyLimits(None, 400))
    for _ in range(300):
        try:
            await quotas.take_documents(caller, 1)
            taken += 1
        except QuotaExceededError:
            pass
    print(taken)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def caller(
    name: str = "one", *, requests: int | None = None, documents: int | None = None
) -> Identity:
    return Identity(name, frozenset(), limits=KeyLimits(requests, documents))


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("app.serving.quotas.time", found)
    return found


async def test_a_minute_has_so_many_requests_and_the_next_one_as_many_again(
    tmp_path: Path, clock: Clock
) -> None:
    quotas, limited = Quotas(tmp_path), caller(requests=2)
    clock.now += 15
    for _ in range(2):
        for _ in range(2):
            await quotas.take_request(limited)
        for _ in range(3):
            with pytest.raises(QuotaExceededError) as refused:
                await quotas.take_request(limited)
            assert refused.value.retry_after == 45
        await quotas.take_request(caller("other", requests=2))
        clock.now += 60
    quotas.close()


async def test_a_day_has_so_many_documents_and_a_request_takes_all_of_its_own_or_none(
    tmp_path: Path, clock: Clock
) -> None:
    quotas, limited = Quotas(tmp_path), caller(documents=10)
    await quotas.take_documents(limited, 8)
    with pytest.raises(QuotaExceededError) as refused:
        await quotas.take_documents(limited, 3)
    assert refused.value.retry_after == 43_200
    await quotas.take_documents(limited, 0)
    await quotas.take_documents(limited, 2)
    with pytest.raises(QuotaExceededError):
        await quotas.take_documents(limited, 0)
    clock.now += 43_200
    await quotas.count_documents(limited, 50)
    with pytest.raises(QuotaExceededError):
        await quotas.take_documents(limited, 1)
    quotas.close()


async def test_what_was_used_today_outlives_a_restart(tmp_path: Path, clock: Clock) -> None:
    for n_refused in range(3):
        quotas = Quotas(tmp_path)
        if n_refused == 0:
            await quotas.take_documents(caller(documents=5), 5)
        with pytest.raises(QuotaExceededError):
            await quotas.take_documents(caller(documents=5), 1)
        quotas.close()


async def test_processes_that_count_at_the_same_time_admit_no_more_and_no_fewer(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-c", COUNTING, str(tmp_path)]
    processes = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    taken = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(taken) == 400


async def test_a_caller_without_limits_is_not_counted(tmp_path: Path) -> None:
    quotas = Quotas(tmp_path)
    for one in (Identity("any", frozenset()), caller(requests=1)):
        await quotas.take_documents(one, 1000)
    await quotas.take_request(caller(documents=1))
    assert not (tmp_path / "usage").exists()
    quotas.close()


async def test_where_nothing_can_be_counted_callers_are_let_through(tmp_path: Path) -> None:
    (tmp_path / "usage").mkdir()
    reasons = list[str]()
    quotas = Quotas(tmp_path, reasons.append)
    for _ in range(3):
        await quotas.take_request(caller(requests=1))
    assert reasons == ["EISDIR"] * 3
    (tmp_path / "usage").rmdir()
    await quotas.take_request(caller(requests=1))
    with pytest.raises(QuotaExceededError):
        await quotas.take_request(caller(requests=1))
    (tmp_path / "usage").unlink()  # removed under way: it begins anew
    await quotas.take_request(caller(requests=1))
    quotas.close()


def test_records_of_days_that_are_past_make_room_for_new_keys(tmp_path: Path) -> None:
    file = UsageFile(tmp_path / "usage")
    for day in range(10):
        for key in range(5):
            now = NOON + 2 * day * 86_400
            file.change(f"{day}-{key}", now, lambda usage: usage._replace(documents=7))
    file.close()
    assert (tmp_path / "usage").stat().st_size <= 10 * RECORD.size


def test_a_record_that_was_torn_is_none(tmp_path: Path) -> None:
    (tmp_path / "usage").write_bytes(os.urandom(RECORD.size + 5))
    file, seen = UsageFile(tmp_path / "usage"), list[Usage]()

    def change(usage: Usage) -> Usage:
        seen.append(usage)
        return usage._replace(documents=usage.documents + 1)

    for _ in range(2):
        file.change("one", NOON, change)
    file.close()
    assert [usage.documents for usage in seen] == [0, 1]


def test_a_clock_set_back_a_little_grants_nothing_and_one_set_back_far_begins_anew() -> None:
    used = Usage().at(NOON)._replace(requests=5, documents=5)
    assert used.at(NOON - 30) == used
    assert used.at(NOON - 3 * 86_400) == Usage().at(NOON - 3 * 86_400)
    assert used.at(NOON + 60).requests == 0
    assert used.at(NOON + 60).documents == 5
    assert used.at(time.time()) == Usage().at(time.time())
