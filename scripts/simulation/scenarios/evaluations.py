"""Evaluations: handed in, worked on by two workers, kept and removed; files and table together."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from simulation.database import SharedTable
from simulation.scenario import Scenario, attempt, require
from simulation.world import Process, World

from app.artifacts.folders import write_file
from app.errors import (
    AppError,
    ConflictError,
    EvaluationNotFoundError,
    LeaseLostError,
    UploadNotFoundError,
)
from app.serving.jobs.archive import REPORT, EvaluationArchive
from app.serving.jobs.folders import make_results_folder, results_folder, sync_results
from app.serving.jobs.job import Job, JobProgress
from app.serving.jobs.leases import JobResult, Leases
from app.serving.jobs.upkeep.retention import Retention, RetentionLimits

CONTENTS = [b"a test set", b"another one", b"a third" * 200]
HASHES = [hashlib.sha256(content).hexdigest() for content in CONTENTS]
FOREIGN = ("data/evaluations/notes/x", "data/uploads/README", "data/mine")


class Evaluations(Scenario):
    """A service, two workers, and upkeep."""

    name: ClassVar[str] = "evaluations"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.data, self.table = self.root / "data", SharedTable(world)
        self.handed_in: list[str] = []
        self.finished: dict[str, int] = {}
        self.claimed: dict[str, int] = {}
        """The newest token of each job."""
        self.held: dict[str, float] = {}
        """When each job's lease was last renewed, by the database's clock."""
        self.deleting: set[str] = set()
        self.tried: set[str] = set()
        self.n_files = 0

    def archive(self) -> EvaluationArchive:
        """As a process that starts opens it."""
        return EvaluationArchive(self.table.database(), self.data)

    def prepare(self, process: Process) -> None:
        """Files of somebody; nothing of ours, or a job that waits."""
        self.put_foreign(*FOREIGN)
        if self.random.random() < 0.6:
            self.submit(process, self.archive())

    def works(self) -> dict[str, Callable[[Process], None]]:
        """Who works at once."""
        return {"api": self.serve, "one": self.work, "two": self.work, "upkeep": self.look_after}

    def serve(self, process: Process) -> None:
        """What clients ask for."""
        archive = self.archive()
        for _ in range(self.random.randint(1, 4)):
            if self.random.random() < 0.6 or not self.handed_in:
                self.submit(process, archive)
            elif self.random.random() < 0.5:
                self.delete(process, archive, self.random.choice(self.handed_in))
            else:
                self.read(process, archive, self.random.choice(self.handed_in))

    def submit(self, process: Process, archive: EvaluationArchive) -> None:
        """Hand in an evaluation, with its file or of one that was sent before."""
        number = self.random.randrange(len(CONTENTS))
        job = Job(model="m", version="v", upload=HASHES[number], storage="", reading={}, options={})
        file = self.data / f"incoming-{self.n_files}" if self.random.random() < 0.8 else None
        self.n_files += 1

        def hand_in() -> None:
            if file is not None:
                file.write_bytes(CONTENTS[number])
            archive.submit([job], {job.upload: file})

        is_done, _ = attempt(process, hand_in, (UploadNotFoundError,) if file is None else ())
        if is_done:
            self.handed_in.append(job.id)

    def delete(self, process: Process, archive: EvaluationArchive, id: str) -> None:
        """Cancel an evaluation, or remove it."""
        self.deleting.add(id)
        gone = (EvaluationNotFoundError,)
        attempt(process, lambda: archive.cancel_or_remove(id, lambda model: True), gone)

    def read(self, process: Process, archive: EvaluationArchive, id: str) -> None:
        """A report that is done is there, whole, unless it was removed meanwhile."""

        def report() -> None:
            job = archive.get(id, lambda model: True)
            try:
                content = archive.result(job, REPORT).read_text()
            except FileNotFoundError:
                require(archive.table.get(id) is None, f"the report of {id} is lost")
                return
            require(content == _report(job), f"the report of {id} is {content!r}")

        attempt(process, report, (EvaluationNotFoundError, ConflictError))

    def work(self, process: Process) -> None:
        """A worker: some jobs, one after the other."""
        archive = self.archive()
        done, leases = attempt(process, lambda: Leases(archive._database, archive.storage))
        for _ in range(self.random.randint(1, 3)):
            if done:
                self.take_job(process, archive, leases)

    def take_job(self, process: Process, archive: EvaluationArchive, leases: Leases) -> bool:
        """Claim a job and try it; whether there was one."""
        is_done, job = attempt(process, lambda: leases.claim(process.name))
        if not is_done or job is None:
            return False
        self.check_claim(job, leases.terms.seconds, self.table.at[process.name])
        lost = (LeaseLostError,)
        is_done, _ = attempt(process, lambda: self.evaluate(process, archive, leases, job), lost)
        if not is_done:
            attempt(process, lambda: self.give_up(leases, job), lost)
        return True

    def check_claim(self, job: Job, lease: float, now: float) -> None:
        """Nobody takes a job from a worker whose lease is not over, by the database's clock.

        A claim whose worker slept until another had the job is not looked at: the newer one was.
        """
        if job.token < self.claimed.get(job.id, 0):
            return
        self.claimed[job.id] = job.token
        renewed = self.held.get(job.id)
        is_over = renewed is None or now > renewed + lease or now < renewed - lease
        require(is_over, f"{job.id} was taken {now - (renewed or 0)} s after its lease was renewed")
        require(job.id not in self.finished, f"{job.id} is done, and was claimed again")
        self.held[job.id] = now

    def evaluate(
        self, process: Process, archive: EvaluationArchive, leases: Leases, job: Job
    ) -> None:
        """Read the file, write a report, and say so; as app/serving/jobs/workers does."""
        self.tried.add(job.id)
        self.world.sleep(self.random.choice((0.1, 5.0, 28.0, 35.0)))
        if leases.renew(job, JobProgress(1)) == "cancelled":
            self.held.pop(job.id, None)
            raise LeaseLostError("cancelled")
        self.held[job.id] = self.table.at[process.name]
        self.check_upload(archive, job)
        results = results_folder(self.data, job.id, job.token)
        try:
            _write_report(results, job)
            self.held.pop(job.id, None)
            leases.finish(job, JobResult("d" * 64, 1, {}, 10))
        except (AppError, OSError):
            if leases.look(job) == "running":
                raise
            shutil.rmtree(results, ignore_errors=True)
            raise LeaseLostError("cancelled") from None
        require(job.id not in self.finished, f"{job.id} has ended twice")
        self.finished[job.id] = job.token

    def check_upload(self, archive: EvaluationArchive, job: Job) -> None:
        """The file of a job under way is there, as it was sent."""
        try:
            content = archive.uploads.path(job.upload).read_bytes()
        except (UploadNotFoundError, FileNotFoundError):
            leases = Leases(archive._database, archive.storage)
            is_ours = leases.look(job) == "running"
            require(not is_ours, f"the upload of {job.id} is lost, and it is under way")
            raise LeaseLostError("removed") from None
        require(content == CONTENTS[HASHES.index(job.upload)], "an upload is not what was sent")

    def give_up(self, leases: Leases, job: Job) -> None:
        """Say that the try has failed."""
        self.held.pop(job.id, None)  # it may have happened even if the answer is lost
        leases.fail(job, {"error": "StorageFullError", "said": "full"})

    def look_after(self, process: Process) -> None:
        """Upkeep."""
        archive = self.archive()
        retention = Retention(archive, RetentionLimits(self.random.randint(1, 3)))
        for _ in range(self.random.randint(1, 2)):
            attempt(process, retention.apply)
            attempt(process, retention.clean)

    def recover(self, process: Process) -> None:
        """Every job ends; what is listed is whole; what nobody refers to is gone."""
        archive = self.archive()
        leases = Leases(archive._database, archive.storage)
        for _ in range(40):
            self.take_job(process, archive, leases)
            self.world.sleep(leases.terms.seconds * 2)
        for id in self.handed_in:
            job = archive.table.get(id)
            require(job is None or job.is_ended, f"{id} does not come to an end")
            may_be_gone = id in self.deleting or id in self.tried
            require(job is not None or may_be_gone, f"{id} was handed in, and is lost")
            self.read(process, archive, id)
        Retention(archive, RetentionLimits(100)).clean()
        self.check_foreign()
        self.check_left(archive)

    def check_left(self, archive: EvaluationArchive) -> None:
        """Nothing lies about that no row refers to."""
        ids = {row["id"] for row in archive.rows("SELECT id FROM {jobs}")}
        folders = {path.name for path in (self.data / "evaluations").iterdir()} - {"notes"}
        require(folders <= ids, f"left over: {folders - ids}")
        kept = {row["upload"] for row in archive.rows("SELECT upload FROM {jobs}")}
        uploads = {path.name for path in (self.data / "uploads").iterdir()} - {"README", ".lock"}
        require(uploads <= kept, f"left over: {uploads - kept}")
        require(kept <= uploads, f"lost: {kept - uploads}")


def _report(job: Job) -> str:
    return f"{job.id} {job.token}" * 20


def _write_report(results: Path, job: Job) -> None:
    make_results_folder(results)
    write_file(results / REPORT, _report(job).encode())
    sync_results(results)
