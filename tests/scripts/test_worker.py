"""`labelserve worker`: a worker alone, which puts its job back when it is told to end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from soak.job_queue import opened

from app.errors import installable
from app.serving.jobs.workers.worker_options import WorkerOptions
from tests.reliability.servers import ROOT
from tests.serving.jobs.made_up import corpus


def test_a_worker_alone_ends_with_a_signal_and_its_job_waits_again(
    tmp_path: Path, tiny_models: Path
) -> None:
    with opened(WorkerOptions(tiny_models, tmp_path), "tiny") as queue:
        (short,) = queue.submit(queue.upload(corpus(20)))
        (long,) = queue.submit(queue.upload(corpus(5000)), bootstrap=10_000)
        command = [sys.executable, "-m", "labelserve", "worker", f"--data-dir={tmp_path}"]
        worker = subprocess.Popen(
            [*command, f"--models-dir={tiny_models}"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert queue.wait_for(short, "done", "failed").state == "done"
            queue.wait_for(long, "running")
            worker.send_signal(signal.SIGTERM)
            _, said = worker.communicate(timeout=60)
        finally:
            worker.kill()
        job = queue.get(long)
    assert (worker.returncode, job.state, job.deaths, job.failures) == (0, "queued", 0, 0)
    assert f"evaluation {long}: put back" in said


def test_a_worker_without_the_database_driver_says_what_to_install(tmp_path: Path) -> None:
    """As where the extra is not installed: the driver cannot be imported."""
    (tmp_path / "psycopg.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    command = [sys.executable, "-m", "labelserve", "worker", "--jobs-url=postgresql://nowhere/x"]
    environment = {**os.environ, "PYTHONPATH": path, "LABELSERVE_DATA_DIR": str(tmp_path / "var")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert f"pip install {installable('postgres')}" in done.stderr
    assert "Traceback" not in done.stderr
