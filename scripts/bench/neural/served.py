"""A network behind HTTP: time and memory of one document, and whether batches agree."""

import gzip
import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from bench.harness.environment import WORK, data_folder
from bench.harness.processes import free_ports, resident_memory
from bench.harness.server_process import replica

REQUESTS = 300


def served(models: Path, name: str) -> dict[str, float]:
    """p50 and p99 of a document, memory, the largest difference between alone and in a batch."""
    with gzip.open(data_folder() / "reuters" / "test.txt.gz", "rt", encoding="utf-8") as lines:
        texts = [line.split("\t", 2)[2] for line, _ in zip(lines, range(REQUESTS), strict=False)]
    (port,) = free_ports(1)
    server = replica(models, port, WORK, LABELSERVE_DEFAULT_MODEL=name)
    try:
        server.start()
        server.wait_until_ready()
        return _measured(server.pid, f"http://127.0.0.1:{port}", name, texts)
    finally:
        server.end()


def _measured(pid: int, address: str, model: str, texts: list[str]) -> dict[str, float]:
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
        "server_megabytes": resident_memory(pid) / (1 << 20),
        "largest_difference": max(gaps),
    }


def _scores(address: str, model: str, texts: list[str]) -> list[dict[str, float]]:
    body = json.dumps({"documents": texts, "model": model, "top_k": 90}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/predict", body, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310
        found: list[dict[str, Any]] = json.loads(answer.read())["predictions"]
    return [{one["label"]: one["score"] for one in prediction["labels"]} for prediction in found]
