"""JobWorker: claims jobs, tries them one after the other, and writes down what came of each."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import ParamSpec, TypeVar

from app.errors import (
    AppError,
    DatabaseUnavailableError,
    EvaluationCrashedError,
    LeaseLostError,
    StorageFullError,
)
from app.serving.jobs.database import open_database
from app.serving.jobs.folders import storage_id
from app.serving.jobs.job import Job, JobProgress
from app.serving.jobs.leases import Leases
from app.serving.jobs.workers.outage import Outage
from app.serving.jobs.workers.progress_file import read_progress
from app.serving.jobs.workers.worker_options import WorkerOptions
from app.serving.logs import place
from app.serving.spool import Spool

LOOK_SECONDS = 0.5
"""Between two looks for a job."""
PROGRESS_SECONDS = 2.0
"""Between two looks at a job under way; progress is written down, which renews the lease, too."""

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger("labelserve.jobs")


class WorkerStoppedError(Exception):
    """The worker has to end: its job goes back to the queue."""


class JobCancelledError(Exception):
    """Somebody cancelled the job."""


class JobWorker:
    """One process's work; everything that waits for the database is done in threads.

    While the database cannot be used, the worker tries again, ever more seldom, and an evaluation
    that is under way goes on: nobody else can claim it meanwhile.
    """

    def __init__(self, options: WorkerOptions) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}"
        self._options = options
        self._spool = Spool(options.data_dir)
        self._database = open_database(options.jobs_url, options.data_dir)
        self._stopped, self._outage = asyncio.Event(), Outage()
        self._leases: Leases | None = None

    def stop(self) -> None:
        """End soon; a job that is under way goes back to the queue."""
        self._stopped.set()

    async def work(self) -> None:
        """Work until `stop` is called."""
        log.info("worker %s waits for evaluations", self.name)
        try:
            while not self._stopped.is_set():
                job = await self._until_done(self._claim)
                if job is None:
                    await self._stopped_within(LOOK_SECONDS)
                else:
                    await self._try(job)
        except WorkerStoppedError:
            pass
        finally:
            self._spool.close()
            self._database.close()

    def _claim(self) -> Job | None:
        return self._held().claim(self.name)

    def _held(self) -> Leases:
        """The leases on jobs of the data folder, which may not be there yet."""
        if self._leases is None:
            storage = storage_id(self._options.data_dir)
            self._leases = Leases(self._database, storage, self._options.terms)
        return self._leases

    async def _try(self, job: Job) -> None:
        log.info("evaluation %s: try %s begins", job.id, job.token)
        try:
            outcome = await self._outcome(job)
        except LeaseLostError:
            log.warning("evaluation %s: try %s is another worker's by now", job.id, job.token)
        except JobCancelledError:
            log.info("evaluation %s: cancelled", job.id)
        else:
            log.info("evaluation %s: %s", job.id, outcome)

    async def _outcome(self, job: Job) -> str:
        """Try the job and write down what came of it, which is said in a few words."""
        try:
            await self._evaluate(job)
        except WorkerStoppedError:
            with suppress(DatabaseUnavailableError, StorageFullError):  # then its lease runs out
                await asyncio.to_thread(self._held().release, job)
            return "put back, as this worker ends"
        except (LeaseLostError, JobCancelledError):
            raise
        except AppError as error:
            return await self._failed(job, error)
        except Exception as error:  # its message may hold words of the test set
            log.error("evaluation %s: %s", job.id, place(error))
            crashed = EvaluationCrashedError("the evaluation failed; the log says where")
            return await self._failed(job, crashed)
        return "done"

    async def _evaluate(self, job: Job) -> None:
        from app.serving.jobs.workers.attempt import Attempt  # here: much is imported for it

        with self._spool.folder() as scratch:
            attempt = Attempt(job, self._options, scratch)
            result = await attempt.result(partial(self._renewals, job, scratch))
        try:
            await self._until_done(self._held().finish, job, result)
        except LeaseLostError:
            attempt.remove()
            raise

    async def _failed(self, job: Job, error: AppError) -> str:
        from app.serving.evaluating import kept_error
        from app.serving.jobs.workers.attempt import is_final

        kept, is_over = kept_error(error), is_final(error)
        await self._until_done(self._held().fail, job, kept, is_final=is_over)
        return f"failed: {error.code}"

    async def _renewals(self, job: Job, scratch: Path) -> None:
        """Renew the lease for as long as the try is wanted; ends with an error."""
        leases, seen, renewed = self._held(), JobProgress(), monotonic()
        terms = self._options.terms
        while not await self._stopped_within(min(PROGRESS_SECONDS, terms.renew_seconds)):
            progress = await asyncio.to_thread(read_progress, scratch)
            if progress != seen or monotonic() > renewed + terms.renew_seconds:
                state = await self._until_done(leases.renew, job, progress)
                seen, renewed = progress, monotonic()
            else:
                state = await self._until_done(leases.look, job)
            if state == "cancelled":
                raise JobCancelledError
        raise WorkerStoppedError

    async def _until_done(self, call: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """What the call gives, which is made again while the database cannot be used.

        WorkerStoppedError where the worker has to end before it could be made.
        """
        while True:
            try:
                found = await asyncio.to_thread(call, *arguments, **named)
            except (DatabaseUnavailableError, StorageFullError) as error:
                if await self._stopped_within(self._outage.pause_after(error)):
                    raise WorkerStoppedError from error
            else:
                self._outage.is_over()
                return found

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            return False
        return True
