"""`make soak`: the long runs of docs/benchmarks.md: what the service must survive, in full.

Every part asserts its bounds and adds a row; the rows become the section `soak`. `--minutes N`
sets the length of the last part (default 10); `--only NAME` runs one part and writes nothing.
"""

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import zstandard

from app.artifacts.store import Store

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import machine
from bench.gateway import Process, free_ports, replica
from bench.peers_venv import ROOT
from bench.sections import write_section
from bench.soak_gateway import demo_model

MEBIBYTE = 1 << 20
NDJSON = {"content-type": "application/x-ndjson"}
TEXT = "the invoice was charged twice, please refund the payment"
LONG = json.dumps({"text": f"{TEXT} " * 1000, "labels": ["billing"]}).encode() + b"\n"

Row = tuple[str, str, bool]
"""What was done, what was found, whether it held."""


def uploads(site: "Site") -> list[Row]:
    """300 MB raw, in gzip and as multipart, while another client predicts."""
    rows = []
    idle = site.latencies(5.0)
    body = LONG * (300 * MEBIBYTE // len(LONG))
    packed = gzip.compress(body, 1)
    ways: dict[str, Callable[[], httpx.Response]] = {
        "raw": lambda: site.evaluate(content=_pieces(body), headers=NDJSON),
        "gzip": lambda: site.evaluate(content=packed, headers=NDJSON),
        "multipart": lambda: site.evaluate(files={"file": body}),
    }
    for name, send in ways.items():
        before, stop = site.memory(), threading.Event()
        with ThreadPoolExecutor(1) as others:
            watching = others.submit(site.watch, stop)
            start = time.perf_counter()
            status = send().status_code
            seconds = time.perf_counter() - start
            stop.set()
            times, most = watching.result()
        grown = (most - before) / MEBIBYTE
        slower = (_p99(times) - _p99(idle)) * 1e3
        rows.append(
            (
                f"300 MB upload, {name}",
                f"{status} in {seconds:.1f} s; memory +{grown:.0f} MB; p99 of predict "
                f"+{slower:.0f} ms",
                status in (200, 504) and grown <= 64 and slower <= 50,
            )
        )
    return rows


def bombs(site: "Site") -> list[Row]:
    """4 GiB in a few kilobytes."""
    site.evaluate(content=LONG, headers=NDJSON)
    kinds = {
        "gzip": gzip.compress(bytes(16 * MEBIBYTE)) * 256,
        "zstd": zstandard.compress(bytes(64 * MEBIBYTE)) * 64,
    }
    rows = []
    for name, bomb in kinds.items():
        before, start = site.memory(), time.perf_counter()
        status = site.evaluate(content=bomb, headers=NDJSON).status_code
        seconds, grown = time.perf_counter() - start, (site.memory() - before) / MEBIBYTE
        found = f"{status} in {seconds:.2f} s; memory +{grown:.0f} MB"
        held = status in (413, 422) and seconds <= 1 and grown <= 16
        rows.append((f"4 GiB bomb, {name}", found, held))
    return rows


def overload(site: "Site") -> list[Row]:
    """Four times the load that it can take, for a minute; batches of 200 documents."""
    capacity = _rate(site, clients=2, seconds=5.0)
    calm = site.paced(0.8 * capacity, 10.0)
    hard = site.paced(4 * capacity, 60.0)
    start = time.perf_counter()
    while site.post([TEXT] * 200).status_code != 200:
        time.sleep(0.05)
    recovered = time.perf_counter() - start
    accepted = [t for status, t in hard if status == 200]
    refused = [t for status, t in hard if status == 429]
    others = {status for status, _ in hard} - {200, 429}
    base, worst = _p99([t for _, t in calm]), _p99(accepted)
    found = (
        f"{len(accepted)} accepted, p99 {worst * 1e3:.0f} ms ({base * 1e3:.0f} ms at 80 % load); "
        f"{len(refused)} refused, median {statistics.median(refused or [0]) * 1e3:.0f} ms; "
        f"others: {others or 'none'}; accepted again after {recovered:.2f} s"
    )
    held = not others and worst <= 2 * base and recovered <= 2
    return [("4 x overload for 60 s", found, held)]


def half_load(site: "Site", minutes: float) -> list[Row]:
    """Half load with swaps and evaluations: memory must not creep."""
    capacity = _rate(site, clients=2, seconds=5.0)
    end, halves = time.monotonic() + minutes * 60, []
    statuses: set[int] = set()
    while time.monotonic() < end:
        statuses |= {status for status, _ in site.paced(capacity / 2, 15.0)}
        statuses.add(site.evaluate(content=LONG * 50, headers=NDJSON).status_code)
        site.swap()
        halves.append(site.memory() / MEBIBYTE)
    middle = len(halves) // 2
    early, late = statistics.median(halves[1 : middle + 1]), statistics.median(halves[middle:])
    growth = (late / early - 1) * 100
    found = f"statuses {sorted(statuses)}; memory {early:.0f} → {late:.0f} MB ({growth:+.1f} %)"
    held = max(statuses) < 500 and growth <= 5
    return [(f"half load, swaps and evaluations for {minutes:g} min", found, held)]


class Site:
    """One replica with a demo model, and what the parts do with it."""

    def __init__(self, folder: Path) -> None:
        self.models = demo_model(folder)
        again = ["--model=demo", f"--models-dir={self.models}", "--seed=1"]
        train = [sys.executable, "scripts/train.py", f"{folder}/demo/train.jsonl", *again]
        subprocess.run(train, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        settings = {"LABELSERVE_POLL_SECONDS": "0.5", "LABELSERVE_MAX_CONCURRENCY": "800"}
        self.process: Process = replica(self.models, port, folder, **settings)
        self._swaps = 0
        self.process.start()
        self.process.wait_until_ready()

    def post(self, documents: list[str]) -> httpx.Response:
        """One prediction request."""
        return httpx.post(f"{self.url}/predict", json={"documents": documents}, timeout=60)

    def evaluate(self, **body: object) -> httpx.Response:
        """One evaluation."""
        return httpx.post(f"{self.url}/evaluate", timeout=900, **body)  # type: ignore[arg-type]

    def memory(self) -> int:
        """Resident bytes of the serving process."""
        pid = self.process.running.pid if self.process.running is not None else 0
        status = Path(f"/proc/{pid}/status").read_text()
        return next(
            int(line.split()[1]) * 1024 for line in status.splitlines() if line[:5] == "VmRSS"
        )

    def latencies(self, seconds: float) -> list[float]:
        """Seconds that single predictions take, one after the other."""
        stop = threading.Event()
        threading.Timer(seconds, stop.set).start()
        return self.watch(stop)[0]

    def watch(self, stop: threading.Event) -> tuple[list[float], int]:
        """Single predictions until told to stop: their times, and the most memory seen."""
        times, most = [], 0
        with httpx.Client(base_url=self.url, timeout=60) as client:
            while not stop.is_set():
                start = time.perf_counter()
                client.post("/predict", json={"documents": [TEXT]}).raise_for_status()
                times.append(time.perf_counter() - start)
                most = max(most, self.memory())
                time.sleep(0.02)
        return times, most

    def paced(self, rate: float, seconds: float) -> list[tuple[int, float]]:
        """Batches at so many a second, sent whether or not earlier ones are answered."""
        found: list[tuple[int, float]] = []

        def one(_: int) -> None:
            start = time.perf_counter()
            status = self.post([TEXT] * 200).status_code
            found.append((status, time.perf_counter() - start))

        with ThreadPoolExecutor(64) as clients:
            begin = time.monotonic()
            for number in range(int(rate * seconds)):
                time.sleep(max(0.0, begin + number / rate - time.monotonic()))
                clients.submit(one, number)
        return found

    def swap(self) -> None:
        """Make the other version current."""
        store, self._swaps = Store(self.models), self._swaps + 1
        store.promote("demo", store.versions("demo")[self._swaps % 2])


def main() -> int:
    """Run the parts; 1 if a bound did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", choices=["uploads", "bombs", "overload", "half-load"])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    site = Site(folder)
    parts: dict[str, Callable[[], list[Row]]] = {
        "uploads": lambda: uploads(site),
        "bombs": lambda: bombs(site),
        "overload": lambda: overload(site),
        "half-load": lambda: half_load(site, options.minutes),
    }
    try:
        names = [options.only] if options.only else list(parts)
        rows = [row for name in names for row in parts[name]()]
    finally:
        site.process.end()
        shutil.rmtree(folder, ignore_errors=True)
    text = _section(rows)
    print(text)
    if options.only:
        return 0 if all(held for *_, held in rows) else 1
    write_section("soak", text)
    command = [sys.executable, "scripts/bench/soak_gateway.py"]
    gateway = subprocess.run(command, cwd=ROOT, check=False)
    return 0 if all(held for *_, held in rows) and gateway.returncode == 0 else 1


def _section(rows: list[Row]) -> str:
    lines = ["## Soak", "", "| run | found | held |", "|---|---|---|"]
    lines += [f"| {what} | {found} | {'yes' if held else '**no**'} |" for what, found, held in rows]
    return "\n".join([*lines, "", f"{machine()}. Reproduce: `make soak`."])


def _rate(site: Site, clients: int, seconds: float) -> float:
    """Batches of 200 documents that so many clients get answered in a second."""
    end = time.monotonic() + seconds

    def one() -> int:
        count = 0
        while time.monotonic() < end:
            count += site.post([TEXT] * 200).status_code == 200
        return count

    with ThreadPoolExecutor(clients) as pool:
        futures = [pool.submit(one) for _ in range(clients)]
        return sum(future.result() for future in futures) / seconds


def _pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), MEBIBYTE):
        yield body[start : start + MEBIBYTE]


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)] if times else float("nan")


if __name__ == "__main__":
    sys.exit(main())
