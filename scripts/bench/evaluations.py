"""Listing: how long `GET /evaluations` takes where ten thousand evaluations are kept."""

import http.client
import json
import random
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import is_quick, machine
from bench.harness.sections import write_section
from bench.harness.server_process import replica

from app.serving.jobs.database import open_database
from app.serving.jobs.folders import storage_id
from app.serving.jobs.job import Job
from app.serving.jobs.upkeep import statements

KEPT, FIGURES, MODELS_KEPT = 10_000, 45, 20
PORT = 18_411
FIRST_CREATED = 1.7e9


def main() -> None:
    """Measure, print and write the section `evaluations`."""
    with tempfile.TemporaryDirectory(prefix="labelserve-bench-") as name:
        folder = Path(name)
        server = replica(folder / "models", PORT, folder, LABELSERVE_JOB_WORKERS="0")
        server.path = "/health/live"  # it needs no model
        fill(folder / f"var-{PORT}")
        server.start()
        try:
            server.wait_until_ready()
            found = {what: measured(server.port, path) for what, path in asked(server.port).items()}
        finally:
            server.end()
    text = section(found)
    print(text)
    write_section("evaluations", text)


def fill(data_dir: Path) -> None:
    """Rows of evaluations that are done, with figures as real ones have."""
    chance, storage = random.Random(0), storage_id(data_dir)
    figures = {f"figure-{number}": chance.random() for number in range(FIGURES)}
    options = {"k": [1, 3, 5], "decision": "tuned", "bootstrap": 1000, "unlabelled": "keep"}
    job = Job(
        model="",
        version="20261115T120000-1f3c9a",
        upload="a" * 64,
        storage=storage,
        reading={"format": "jsonl", "text_columns": ["text"]},
        options=options,
        counted=True,
        state="done",
        headline=figures,
        documents_done=3019,
        documents_expected=3019,
    )
    with closing(open_database(None, data_dir)) as database, database.transaction() as run:
        for number in range(KEPT):
            created = FIRST_CREATED + number
            row = replace(
                job,
                id=f"{number:032x}",
                batch=f"{number // 4:032x}",
                created=created,
                model=f"model-{number % MODELS_KEPT}",
                data=f"{number % 50:064x}",
                started=created,
                finished=time.time(),
            )
            run(statements.COPY, **row.row())


def asked(port: int) -> dict[str, str]:
    """What is asked for, by name: the first page, one amid all, one of some."""
    page = json.loads(answer(port, "/evaluations"))
    for _ in range(KEPT // 200):
        middle = f"/evaluations?cursor={page['cursor']}"
        page = json.loads(answer(port, middle))
    return {
        "the first page": "/evaluations",
        "a page amid all": middle,
        "a model's": "/evaluations?model=model-3",
        "a data set's": f"/evaluations?data={7:064x}",
        "one": f"/evaluations/{4321:032x}",
    }


def measured(port: int, path: str) -> tuple[float, float]:
    """Milliseconds of a request: the median, and the one that 99 of 100 stay below."""
    times = []
    for _ in range(50 if is_quick() else 500):
        start = time.perf_counter()
        answer(port, path)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times), statistics.quantiles(times, n=100)[-1]


def answer(port: int, path: str) -> bytes:
    """The body of an answer, on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        if reply.status != http.client.OK:
            raise RuntimeError(f"{path}: {reply.status}")
        return reply.read()
    finally:
        connection.close()


def section(found: dict[str, tuple[float, float]]) -> str:
    """The section in Markdown."""
    rows = [f"| {what} | {median:.1f} | {high:.1f} |" for what, (median, high) in found.items()]
    return "\n".join(
        [
            "## Listing evaluations",
            "",
            f"`GET /evaluations` over HTTP, with {KEPT:,} evaluations in SQLite, one request after "
            "another, each on a new connection; a hundred evaluations a page.",
            "",
            "| asked for | median, ms | p99, ms |",
            "|---|---|---|",
            *rows,
            "",
            f"{machine()}. Reproduce: `.venv/bin/python scripts/bench/run.py --only evaluations`.",
        ]
    )


if __name__ == "__main__":
    main()
