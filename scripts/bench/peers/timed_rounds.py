"""A measured program's side: set up once, then one timed round for every line on stdin.

Only the standard library, since every program runs in the venv of its own packages.
"""

import gzip
import json
import os
import statistics
import sys
import time


def run_rounds(rounds, **facts):
    """Say that all is ready, then run the rounds that are named on stdin, one a line."""
    _say({"ready": sorted(rounds), **facts})
    for line in sys.stdin:
        work = rounds[line.strip()]
        cpu, wall = time.process_time(), time.perf_counter()
        found = work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        extra = found if isinstance(found, dict) else {}
        _say({"cpu": cpu, "wall": wall, "peak_mb": peak_mb(), **extra})


def one_by_one(texts, work):
    """Microseconds a text, median wall and mean CPU, when texts come one at a time."""
    walls, cpu = [], time.process_time()
    for text in texts:
        start = time.perf_counter()
        work(text)
        walls.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / len(texts)
    walls.sort()
    p99 = walls[int(0.99 * len(walls))]
    return {"p50_us": 1e6 * statistics.median(walls), "p99_us": 1e6 * p99, "cpu_us": 1e6 * cpu}


def texts_and_labels(path):
    """A file of `id TAB labels TAB text` or `labels TAB text` lines as two lists."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\r\n").split("\t", 2) for line in file]
    return [row[-1] for row in rows], [row[-2].split() for row in rows]


def corpus(name="debtags"):
    """Training and test texts with their labels, from the folder named by LABELSERVE_BENCH_DATA."""
    folder = os.path.join(os.environ["LABELSERVE_BENCH_DATA"], name)
    train = texts_and_labels(os.path.join(folder, "train.txt.gz"))
    return train, texts_and_labels(os.path.join(folder, "test.txt.gz"))


def peak_mb():
    """The most memory this program ever held, in MB (rusage would count its parent's, too)."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def _say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
