"""Quotas: what keys with limits may still ask for; keys without limits are not counted here."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import time

from app.errors import QuotaExceededError, errno_name, errno_text
from app.serving.identity import UNLIMITED, Identity, KeyLimits
from app.serving.usage_file import DAY, MINUTE, Change, Usage, UsageFile

OnFailure = Callable[[str], None]

log = logging.getLogger("labelserve.quotas")


class Quotas:
    """Counts requests and documents of callers, in a thread: the event loop waits for no disk.

    Where the file cannot be used, callers are let through: a full disk makes no service stop.
    """

    def __init__(self, data_dir: Path, on_failure: OnFailure = lambda reason: None) -> None:
        self._file, self._on_failure = UsageFile(data_dir / "usage"), on_failure
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="quotas")

    async def take_request(self, caller: Identity) -> None:
        """Count one request, or raise QuotaExceededError."""
        if caller.limits is not None and caller.limits.requests_per_minute is not None:
            await self._change(caller, _request_taken)

    async def take_documents(self, caller: Identity, count: int) -> None:
        """Count so many documents; QuotaExceededError where they, or one more, are too many."""
        if caller.limits is not None and caller.limits.documents_per_day is not None:
            await self._change(caller, lambda *now: _documents_taken(count, *now))

    async def count_documents(self, caller: Identity, count: int) -> None:
        """Count documents that are answered already, however many they are."""
        if caller.limits is not None and caller.limits.documents_per_day is not None:
            await self._change(caller, lambda usage, *_: _with_documents(usage, count))

    def add_documents(self, caller: Identity, count: int) -> None:
        """The same from any thread, which does not wait for it."""
        if caller.limits is not None and caller.limits.documents_per_day is not None:
            change = partial(_with_documents, count=count)
            self._thread.submit(self._in_thread, caller.name, time(), change)

    def close(self) -> None:
        """Let go of the file."""
        self._thread.submit(self._file.close)
        self._thread.shutdown(wait=False)

    async def _change(
        self, caller: Identity, change: Callable[[Usage, KeyLimits, float], Usage]
    ) -> None:
        now, limits = time(), caller.limits or UNLIMITED
        work = partial(self._in_thread, caller.name, now, lambda usage: change(usage, limits, now))
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _in_thread(self, name: str, now: float, change: Change) -> None:
        try:
            self._file.change(name, now, change)
        except OSError as error:
            log.error("what the key %s asks for is not counted: %s", name, errno_text(error))
            self._on_failure(errno_name(error))


def _request_taken(usage: Usage, limits: KeyLimits, now: float) -> Usage:
    most = limits.requests_per_minute or 0
    if usage.requests >= most:
        wait = MINUTE * (usage.minute + 1) - now
        raise QuotaExceededError("requests-per-minute", most, wait)
    return usage._replace(requests=usage.requests + 1)


def _documents_taken(count: int, usage: Usage, limits: KeyLimits, now: float) -> Usage:
    most = limits.documents_per_day or 0
    if usage.documents + max(count, 1) > most:
        wait = DAY * (usage.day + 1) - now
        raise QuotaExceededError("documents-per-day", most, wait)
    return _with_documents(usage, count)


def _with_documents(usage: Usage, count: int) -> Usage:
    return usage._replace(documents=usage.documents + count)
