"""Workers that are killed at random moments, and what their jobs have become in the end."""

import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from soak.job_queue import JobQueue

WORKERS = 3


@dataclass(frozen=True)
class Survived:
    """What has become of jobs whose workers were killed."""

    kills: int
    deaths: int
    """Tries that were lost with their worker."""
    most_deaths: int
    """Of one job."""
    jobs: int
    done: int
    done_twice: list[str]
    different: list[str]
    """Jobs whose report is not the undisturbed one."""


def undisturbed(queue: JobQueue, uploads: Sequence[str]) -> dict[str, Any]:
    """The report on each upload, by one worker that nobody disturbs."""
    ids = queue.submit(*uploads)
    with queue.working():
        for id in ids:
            queue.wait_for(id, "done", "failed")
    return {upload: queue.report(id) for upload, id in zip(uploads, ids, strict=True)}


def survived(queue: JobQueue, uploads: Sequence[str], kills: int, *, pause: float) -> Survived:
    """Hand in a job for each upload, kill workers so many times, and wait for the end of all.

    A killed worker is replaced at once; up to `pause` seconds pass between two kills. Where all
    jobs have ended before the last kill, they are handed in again.
    """
    expected = undisturbed(queue, sorted(set(uploads)))
    ids, workers = list[str](), [queue.start() for _ in range(WORKERS)]
    pick, killed = random.Random(0), 0
    while killed < kills or not _have_ended(queue, ids):
        if _have_ended(queue, ids):
            ids += queue.submit(*uploads)
        time.sleep(pick.uniform(0, pause))
        if killed < kills and queue.table.counts()["running"]:
            number = pick.randrange(WORKERS)
            workers[number].kill()
            workers[number].wait()
            workers[number], killed = queue.start(), killed + 1
    return _judged(queue, ids, killed, expected)


def _have_ended(queue: JobQueue, ids: list[str]) -> bool:
    return all(queue.get(id).is_ended for id in ids)


def _judged(queue: JobQueue, ids: list[str], kills: int, expected: dict[str, Any]) -> Survived:
    jobs, log = [queue.get(id) for id in ids], queue.log
    done = [job for job in jobs if job.state == "done"]
    return Survived(
        kills=kills,
        deaths=sum(job.deaths for job in jobs),
        most_deaths=max(job.deaths for job in jobs),
        jobs=len(jobs),
        done=len(done),
        done_twice=[job.id for job in jobs if log.count(f"evaluation {job.id}: done") > 1],
        different=[job.id for job in done if queue.report(job.id) != expected[job.upload]],
    )


def stopped_past_its_lease(queue: JobQueue, upload: str) -> tuple[Any, Any]:
    """The report of a job whose worker was stopped, taken over and continued; the undisturbed one.

    RuntimeError where a write of the worker that came back has counted.
    """
    expected = undisturbed(queue, [upload])[upload]
    (id,) = queue.submit(upload)
    worker = queue.start()
    queue.wait_for(id, "running")
    os.kill(worker.pid, signal.SIGSTOP)
    with queue.working() as other:
        taken = queue.wait_for(id, "done", "failed")
    os.kill(worker.pid, signal.SIGCONT)
    queue.wait(lambda: f"evaluation {id}: try 1 is another worker's by now" in queue.log)
    if queue.get(id) != taken or taken.worker != other.name:
        raise RuntimeError("a worker that had lost its lease has written")
    return queue.report(id), expected
