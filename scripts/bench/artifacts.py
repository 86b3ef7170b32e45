"""Writing, verifying and mapping a large model: how long, and how much memory."""

import hashlib
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import is_quick, machine
from bench.harness.sections import write_section

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.state import State

MEGABYTES = 64 if is_quick() else 1024
TURNS = 3


def main() -> None:
    """Measure, and write the section."""
    with tempfile.TemporaryDirectory(prefix="labelserve-bench-") as name:
        store = Store(Path(name))
        with ProcessPoolExecutor(1) as elsewhere:  # its gigabyte must not hide what loading takes
            written = elsewhere.submit(_write, store).result()
        name_, version = store.names()[0], store.versions(store.names()[0])[0]
        file = store.path / name_ / version / "weights.npy"
        hashed = min(_hash(file) for _ in range(TURNS))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        verified = min(_load(store, name_, version) for _ in range(TURNS))
        added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    write_section("artifacts", _section(written, hashed, verified, added))


def _write(store: Store) -> float:
    weights = np.random.default_rng(0).standard_normal((MEGABYTES << 16, 4), np.float32)
    state = State("bench", arrays={"weights": weights})
    start = time.process_time()
    store.write("bench", state, Info("0" * 64, {}, np.ones(1, np.int64)))
    return time.process_time() - start


def _load(store: Store, name: str, version: str) -> float:
    start = time.process_time()
    store.load(name, version)
    return time.process_time() - start


def _hash(file: Path) -> float:
    """The least that any check of every byte can cost: reading and hashing the file."""
    start = time.process_time()
    with file.open("rb") as opened:
        hashlib.file_digest(opened, "sha256")
    return time.process_time() - start


def _section(written: float, hashed: float, verified: float, added: float) -> str:
    return f"""## Verifying a model

One version of {MEGABYTES:,} MB float32 weights, in the page cache; CPU time, best of {TURNS}.

| | CPU s | MB a CPU second |
|---|---|---|
| write, hash and bring to the disk | {written:.2f} | {MEGABYTES / written:,.0f} |
| SHA-256 alone | {hashed:.2f} | {MEGABYTES / hashed:,.0f} |
| load: all checks but the golden documents, then map | {verified:.2f} | \
{MEGABYTES / verified:,.0f} |

Loading raised the peak memory of the process by {added:.0f} MB: the arrays are mapped, not read.

`.venv/bin/python scripts/bench/artifacts.py` ({machine()})
"""


if __name__ == "__main__":
    main()
