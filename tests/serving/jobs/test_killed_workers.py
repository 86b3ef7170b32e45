"""Workers that are killed or stopped: every job ends once, with the undisturbed report."""

import pytest
from soak.job_queue import JobQueue
from soak.killed_workers import stopped_past_its_lease, survived

from tests.serving.jobs.made_up import corpus

pytestmark = pytest.mark.slow


def test_every_job_ends_once_whenever_workers_are_killed(queue: JobQueue) -> None:
    """The long form of it, with 40 kills, is R32 of the long runs."""
    uploads = [queue.upload(corpus(200, seed)) for seed in (1, 2, 3)] * 4
    found = survived(queue, uploads, kills=3, pause=1.0)
    assert (found.kills, found.done_twice, found.different) == (3, [], [])
    assert found.done == found.jobs >= 12


def test_a_worker_that_comes_back_after_its_lease_writes_nothing(queue: JobQueue) -> None:
    report, undisturbed = stopped_past_its_lease(queue, queue.upload(corpus(2000)))
    assert report == undisturbed
