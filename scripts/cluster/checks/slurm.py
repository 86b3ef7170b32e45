"""The jobs of docs/cluster.md on a real SLURM of two nodes."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cluster.batch_system import BatchSystem
from cluster.checks.separate_nodes import Nodes, same_bytes
from cluster.commands import BY_PROCESSES, SEEN, Commands, arrays, hashes
from cluster.corpus import write_corpus
from cluster.dask_nodes import GATE, PRELOAD, close_gate, copies, open_gate
from cluster.nodes import ROOT, SHARED
from cluster.page import jobqueue_program, slurm_job
from containers.report import Report
from containers.stack import wait_for

WORKING = ("n1", "n2")
JOB, PROGRAM = SHARED / "job.sh", SHARED / "jobqueue.py"
SMALLER = ("--nodes=2", "--cpus-per-task=1", "--mem=1G", "--time=10")
"""Instead of what the page asks for; an option counts more than a line of the script."""
GATED = {
    "DASK_DISTRIBUTED__WORKER__PRELOAD": str(PRELOAD),
    "GATE": str(SHARED / GATE),
    "GATE_LETS": "4",
}


def slurm(nodes: Nodes, packages: str, report: Report) -> None:
    """Start SLURM, then submit."""
    system, commands = BatchSystem(nodes), Commands(nodes["login"])
    if not report.check("SLURM", partial(start, system, commands, report)):
        return
    checks: dict[str, Callable[[BatchSystem, Report], None]] = {
        "processors of a step": processors,
        "sbatch job.sh": job,
        "two jobs on the same nodes": two_jobs,
        "scancel, then sbatch again": cancelled,
        "dask-jobqueue": partial(jobqueue, packages),
    }
    for name, check in checks.items():
        report.check(name, partial(check, system, report))


def start(system: BatchSystem, commands: Commands, report: Report) -> None:
    """Daemons, data, and what the jobs have to give."""
    report.found(f"{system.start()}: slurmctld on login, slurmd on n1 and n2, munge")
    for home in (SEEN, SEEN / "second"):
        home.mkdir(exist_ok=True)
        write_corpus(home)
    (SEEN / JOB.name).write_text(slurm_job())
    (SEEN / PROGRAM.name).write_text(jobqueue_program())
    where = ("--models-dir", f"{SHARED}/expected", *BY_PROCESSES)
    data = (f"{SHARED}/train.jsonl", "--model", "topics")
    commands.login.run("labelserve", "train", *data, *where)
    commands.predicted("expected", "labelled-expected", *BY_PROCESSES)


def processors(system: BatchSystem, report: Report) -> None:
    """How many a worker gets of two, as srun is called on the page and without its option."""
    script = "#!/bin/sh\nsrun nproc\nsrun --cpus-per-task=$SLURM_CPUS_PER_TASK nproc\n"
    (SEEN / "nproc.sh").write_text(script)
    options = ("--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=2", "--mem=100M")
    number = system.submit(f"{SHARED}/nproc.sh", *options, f"--output={SHARED}/nproc.txt")
    system.wait_for(number)
    without, told = (SEEN / "nproc.txt").read_text().split()
    report.expect(told == "2", f"{told} of 2")
    report.found(f"{told} of 2; {without} without the option")


def job(system: BatchSystem, report: Report) -> None:
    """The job as it is printed."""
    ended_well(system, report, submitted(system), "")


def two_jobs(system: BatchSystem, report: Report) -> None:
    """At the same time, each with its own scheduler and folder."""
    remove_results("")
    first, second = submitted(system), submitted(system, SHARED=f"{SHARED}/second")
    wait_for(lambda: {system.state(first), system.state(second)} == {"RUNNING"}, 60, "both run")
    ended_well(system, report, first, "")
    ended_well(system, report, second, "second")


def cancelled(system: BatchSystem, report: Report) -> None:
    """After four blocks; the same job again goes on from there."""
    remove_results("")
    close_gate()
    number = submitted(system, **GATED)
    wait_for(lambda: len(parts()) >= 4, 120, "four blocks")
    system.cancel(number)
    report.expect(system.wait_for(number) == "CANCELLED", "was not cancelled")
    no_process(system)
    left = sum(len(copies(system.nodes[name])) for name in WORKING)
    kept = {part: part.stat().st_mtime_ns for part in parts()}
    open_gate()
    again = submitted(system)
    ended_well(system, report, again, "")
    report.expect("starting anew" not in output(again), "it started anew")
    report.found(f"{len(kept)} parts kept; {left} copies left by the first job, none by the second")


def jobqueue(packages: str, system: BatchSystem, report: Report) -> None:
    """The program as it is printed, on login; its workers are jobs."""
    if not packages:
        report.found("not tried: pip could not get it")
        return
    remove_results("")
    login = system.nodes["login"]
    env = {"PYTHONPATH": f"{ROOT}:{packages}", "NODES": "2", "CORES": "1", "MEMORY": "1GB"}
    login.run("python", PROGRAM, env=env)
    compare(report, "", "models")
    wait_for(lambda: not login.run("squeue", "--noheader").strip(), 60, "no job left")
    nothing_is_left(system, report)


def submitted(system: BatchSystem, **env: str) -> str:
    """The number of a job, which is smaller than on the page in its options only."""
    return system.submit(str(JOB), *SMALLER, f"--output={SHARED}/%j.txt", **env)


def output(number: str) -> str:
    """What a job wrote."""
    return (SEEN / f"{number}.txt").read_text(errors="replace")


def ended_well(system: BatchSystem, report: Report, number: str, home: str) -> None:
    """Note how a job ended, and compare what it wrote."""
    state = system.wait_for(number)
    last = " / ".join(output(number).strip().splitlines()[-3:])
    report.expect(state == "COMPLETED", f"{state}: {last[:600]}")
    report.expect("2 workers, 2 threads" in output(number), "not two workers")
    compare(report, home, "models", "labelled")
    nothing_is_left(system, report)


def compare(report: Report, home: str, models: str, labelled: str = "") -> None:
    """A job's model and predictions are those of processes."""
    same_bytes(report, arrays("expected"), arrays(str(Path(home, models))))
    report.expect(not list((SEEN / home).glob("scheduler-*")), "the scheduler's file is left")
    if labelled:
        expected, done = (
            predictions(SEEN / f) for f in ("labelled-expected", Path(home, labelled))
        )
        report.expect(bool(done) and expected == done, "other predictions")
        report.found(f"{len(done)} files of predictions, same bytes")


def predictions(folder: Path) -> dict[str, str]:
    """Files of predictions by their hashes; what lies beside them names the model's version."""
    return {name: digest for name, digest in hashes(folder).items() if name.endswith(".jsonl")}


def nothing_is_left(system: BatchSystem, report: Report) -> None:
    """The end of the last job leaves no process, and no copies on a node."""
    if not system.nodes["login"].run("squeue", "--noheader").strip():
        no_process(system)
        left = [name for name in WORKING if copies(system.nodes[name])]
        report.expect(not left, f"copies stayed on {' '.join(left)}")


def no_process(system: BatchSystem) -> None:
    """Wait until SLURM has ended all that a job has started."""
    for name in WORKING:
        ended = partial(system.nodes[name].tried, "pgrep", "-f", "dask")
        wait_for(lambda ask=ended: ask()[1] == 1, 30, f"no dask on {name}")  # type: ignore[misc]


def parts() -> list[Path]:
    """Finished tasks of a training under way."""
    return list((SEEN / "models").rglob("*.part"))


def remove_results(home: str) -> None:
    """As before the first job."""
    for name in ("models", "labelled"):
        shutil.rmtree(SEEN / home / name, ignore_errors=True)
