"""Ctrl-C during a training ends it and every process it started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
import numpy as np
from app.learners.base import Fitting
from app.learners.one_vs_rest import OneVsRest
from tests.learners.made_up import made_up

def children(stage, done, total):
    if stage == "train":
        found = open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split()
        print("working", *found, flush=True)

features, truth = made_up(400, 400)
try:
    while True:
        OneVsRest("-s 1 -e 1e-6", sys.argv[1]).fit(features, truth, Fitting(2, progress=children))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="lists processes in /proc")
@pytest.mark.parametrize("solver", ["liblinear", "auto"])
def test_ctrl_c_leaves_no_worker_behind(solver: str) -> None:
    root = Path(__file__).parents[2]
    training = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, solver],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert training.stdout is not None
    workers = training.stdout.readline().split()[1:]
    training.send_signal(signal.SIGINT)
    training.communicate(timeout=60)
    assert training.returncode != 0
    assert solver == "auto" or workers
    end = time.monotonic() + 30
    while any(_is_alive(worker) for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert [worker for worker in workers if _is_alive(worker)] == []


def _is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False
