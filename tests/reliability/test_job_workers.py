"""The workers that a service starts for evaluations: one set a service, watched, gone with it."""

import os
import signal
from pathlib import Path

import httpx
import pytest
from bench.harness.processes import family
from soak.job_queue import JobQueue, opened

from app.serving.jobs.workers.worker_options import WorkerOptions
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until
from tests.reliability.test_full_disk import Mounted, fill, mounted, written_maps
from tests.serving.jobs.made_up import corpus

__all__ = ["mounted"]


def job_workers(server: Server) -> list[int]:
    """The processes that work on jobs."""
    found = []
    for pid in family(server.process.pid)[1:]:
        command = Path(f"/proc/{pid}/cmdline")
        if command.exists() and b"worker_process" in command.read_bytes():
            found.append(pid)
    return found


def is_gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def done(queue: JobQueue) -> None:
    (id,) = queue.submit(queue.upload(corpus(20)))
    job = queue.wait_for(id, "done", "failed")
    assert (job.state, job.failures) == ("done", 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_service_has_one_set_of_job_workers_and_replaces_them(
    started: Started, tiny_models: Path, workers: int
) -> None:
    server = started(workers=workers, job_workers=2, drain_seconds=0)
    assert job_workers(server) == []
    with opened(WorkerOptions(tiny_models, server.data_dir), "tiny") as queue:
        done(queue)
        first = job_workers(server)
        assert len(first) == 2
        assert all(os.getpriority(os.PRIO_PROCESS, pid) > 0 for pid in first)
        for pid in first:
            os.kill(pid, signal.SIGTERM)  # as systemd does to all: the service decides
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: len(set(job_workers(server)) - {first[0]}) == 2)
        assert first[1] in job_workers(server)
        done(queue)
    second = job_workers(server)
    os.kill(server.process.pid, signal.SIGTERM if workers == 1 else signal.SIGKILL)
    wait_until(lambda: all(map(is_gone, second)))


def test_a_full_disk_keeps_jobs_waiting_and_kills_no_worker(mounted: Mounted) -> None:
    server, disk = mounted(1)
    with server.client(headers={"content-type": "application/x-ndjson"}) as client:

        def handed_in() -> httpx.Response:
            return client.post("/evaluations", content=corpus(20))

        def state(answer: httpx.Response) -> str:
            found = client.get(answer.headers["location"]).json()
            return str(found["state"])

        first = handed_in()
        wait_until(lambda: state(first) == "done")
        (worker,) = job_workers(server)
        assert written_maps(worker) == written_maps(server.process.pid) == []
        os.kill(worker, signal.SIGSTOP)
        waiting = handed_in()
        filling = fill(disk)
        assert handed_in().status_code == 507
        os.kill(worker, signal.SIGCONT)
        wait_until(lambda: any("cannot be used" in said for said in messages(server)))
        assert state(waiting) == "queued"
        filling.unlink()
        wait_until(lambda: state(waiting) == "done")
    assert job_workers(server) == [worker]
    assert sum("cannot be used" in said for said in messages(server)) == 1


def messages(server: Server) -> list[str]:
    found = lines(server.log)
    return [line["message"] for line in found if line.get("logger") == "labelserve.jobs"]
