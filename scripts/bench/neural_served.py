"""A network behind HTTP: time and memory of one document, and whether batches agree."""

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import WORK, data_folder
from bench.peers_venv import ROOT

REQUESTS = 300


def served(models: Path, name: str) -> dict[str, float]:
    """p50 and p99 of a document, memory, the largest difference between alone and in a batch."""
    with gzip.open(data_folder() / "reuters" / "test.txt.gz", "rt", encoding="utf-8") as lines:
        texts = [line.split("\t", 2)[2] for line, _ in zip(lines, range(REQUESTS), strict=False)]
    port = _free_port()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("LABELSERVE_")}
    settings = {
        "LABELSERVE_MODELS_DIR": str(models),
        "LABELSERVE_DEFAULT_MODEL": name,
        "LABELSERVE_PORT": str(port),
        "LABELSERVE_DATA_DIR": str(WORK / "neural-var"),
    }
    command = [sys.executable, "-m", "app.main"]
    log = (WORK / "neural-server.log").open("w")
    with subprocess.Popen(
        command, cwd=ROOT, env=clean | settings, stdout=log, stderr=log
    ) as server:
        try:
            return _measured(server.pid, f"http://127.0.0.1:{port}", name, texts)
        finally:
            server.terminate()


def _measured(pid: int, address: str, model: str, texts: list[str]) -> dict[str, float]:
    _wait(address)
    alone, seconds = [], []
    for text in texts:
        began = time.perf_counter()
        alone += _scores(address, model, [text])
        seconds.append(time.perf_counter() - began)
    together = _scores(address, model, texts)
    gaps = [abs(a[k] - b[k]) for a, b in zip(alone, together, strict=True) for k in a]
    return {
        "p50_ms": 1000 * float(np.percentile(seconds, 50)),
        "p99_ms": 1000 * float(np.percentile(seconds, 99)),
        "server_megabytes": _memory(pid),
        "largest_difference": max(gaps),
    }


def _scores(address: str, model: str, texts: list[str]) -> list[dict[str, float]]:
    body = json.dumps({"documents": texts, "model": model, "top_k": 90}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/predict", body, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310
        found: list[dict[str, Any]] = json.loads(answer.read())["predictions"]
    return [{one["label"]: one["score"] for one in prediction["labels"]} for prediction in found]


def _wait(address: str) -> None:
    until = time.monotonic() + 180
    while True:
        try:
            urllib.request.urlopen(f"{address}/health/ready", timeout=5).close()  # noqa: S310
            return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    lines = (line.split() for line in status.splitlines())
    return next(int(line[1]) for line in lines if line[0] == "VmRSS:") / 1024


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
