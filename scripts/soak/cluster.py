"""A training on a cluster (R34) one of whose workers stands still for a minute, or has no room."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from soak.findings import Findings

ROOT = Path(__file__).parents[2]
LABELS, DOCUMENTS, QUICK_DOCUMENTS = 160, 8000, 1500
STOPPED, QUICK_STOPPED = 60, 6
"""Seconds."""
FULL = 200_000
"""Bytes of a file that a worker with a full disk may write: a part has more."""
SECONDS = 900


def disturbed_workers(models: Path, folder: Path, quick: bool) -> Findings:
    """Train by threads, then beside a stopped worker, then beside one that cannot write."""
    work, findings = folder / "cluster", Findings()
    work.mkdir()
    corpus = _corpus(work / "train.jsonl", QUICK_DOCUMENTS if quick else DOCUMENTS)
    _train(corpus, work / "threads", "--jobs", "2")
    expected = _hashes(work / "threads")
    pause = QUICK_STOPPED if quick else STOPPED
    with _cluster(work) as (address, workers):
        done = _stopped(corpus, work / "stopped", address, workers[0], pause)
    findings.note(
        f"SIGSTOP for {pause} s: {'the same model' if done == expected else 'another model'}",
        done == expected,
    )
    said, done = _full(corpus, work)
    names_it = "failed 4 times" in said and "--resume" in said
    findings.note(f"a worker without room: {said or 'the others did it all'}", names_it or not said)
    findings.note("then with --resume the same model", done == expected)
    return findings


def _stopped(
    corpus: Path, models: Path, address: str, worker: "subprocess.Popen[bytes]", pause: float
) -> list[str]:
    """The hashes of a model that was trained while a worker stood still."""
    training = _started(corpus, models, "--cluster", address)
    _wait_for(lambda: any(models.rglob("*.part")) or training.poll() is not None)
    worker.send_signal(signal.SIGSTOP)
    try:
        time.sleep(pause)
    finally:
        worker.send_signal(signal.SIGCONT)
    training.communicate(timeout=SECONDS)
    return _hashes(models)


def _full(corpus: Path, work: Path) -> tuple[str, list[str]]:
    """What a training said that failed on a full disk, if it did; and the hashes in the end."""
    models = work / "full"
    with _cluster(work, largest_file=FULL) as (address, _):
        first = _started(corpus, models, "--cluster", address)
        _, errors = first.communicate(timeout=SECONDS)
    said = errors.decode().strip().splitlines()[-1][:300] if first.returncode else ""
    if said:
        with _cluster(work) as (address, _):
            _train(corpus, models, "--cluster", address, "--resume")
    return said, _hashes(models)


@contextmanager
def _cluster(
    folder: Path, largest_file: int | None = None
) -> Iterator[tuple[str, "list[subprocess.Popen[bytes]]"]]:
    """A scheduler and two workers; the first may be limited in the files that it writes."""
    about = folder / "scheduler.json"
    about.unlink(missing_ok=True)
    quiet = ("--host", "127.0.0.1", "--no-dashboard")
    port = ("--port", "0", "--dashboard-address", "127.0.0.1:0")
    started = [_dask(folder, "scheduler", *quiet, *port, "--scheduler-file", str(about))]
    try:
        _wait_for(lambda: about.exists() and about.stat().st_size > 0)
        address = json.loads(about.read_text())["address"]
        for limit in (largest_file, None):
            local = ("--local-directory", str(folder / "scratch"))
            one = ("--no-nanny", "--nthreads", "1", *local)
            started.append(_dask(folder, "worker", address, *quiet, *one, limit=limit))
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()
        shutil.rmtree(folder / "scratch", ignore_errors=True)


def _dask(folder: Path, *words: str, limit: int | None = None) -> "subprocess.Popen[bytes]":
    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited,
    )


def _train(corpus: Path, models: Path, *options: str) -> None:
    training = _started(corpus, models, *options)
    _, errors = training.communicate(timeout=SECONDS)
    if training.returncode:
        raise RuntimeError(errors.decode())


def _started(corpus: Path, models: Path, *options: str) -> "subprocess.Popen[bytes]":
    models.mkdir(exist_ok=True)
    words = ("train", str(corpus), "--model", "m", "--models-dir", str(models), "--quality", "fast")
    return subprocess.Popen(
        [sys.executable, "-m", "labelserve", *words, *options],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _corpus(file: Path, n_documents: int) -> Path:
    pick = random.Random(0)
    with file.open("w") as lines:
        for _ in range(n_documents):
            labels = pick.sample(range(LABELS), 2)
            words = [f"w{label}x{pick.randrange(20)}" for label in labels for _ in range(6)]
            words += [f"z{pick.randrange(3000)}" for _ in range(40)]
            row = {"text": " ".join(words), "labels": [f"l{label}" for label in labels]}
            lines.write(json.dumps(row) + "\n")
    return file


def _hashes(models: Path) -> list[str]:
    files = [path for path in models.rglob("*.npy") if ".checkpoints" not in path.parts]
    return sorted(f"{path.name} {sha256(path.read_bytes()).hexdigest()}" for path in files)


def _wait_for(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_true():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.02)
