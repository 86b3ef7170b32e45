"""How fast each data format is read: CPU seconds, with the plainest loop over the same bytes."""

import csv
import gzip
import io
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import zstandard

from app.datasets import ReadOptions, open_dataset
from app.datasets.demo.corpus import tickets

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.sections import write_section

DOCUMENTS, ROUNDS, STREAMED = 20_000, 5, 1_200_000


def corpora() -> dict[str, bytes]:
    """The same made-up tickets in every format, about 5 MB each."""
    records: list[dict[str, Any]] = list(islice(tickets(seed=1), DOCUMENTS))
    rows = [(record["id"], record["text"], record["labels"]) for record in records]
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records).encode()
    table = io.StringIO(newline="")
    cells = [("id", "text", "labels"), *((i, t, "|".join(n)) for i, t, n in rows)]
    csv.writer(table).writerows(cells)
    file = io.BytesIO()
    columns = dict(zip(("id", "text", "labels"), map(list, zip(*rows, strict=True)), strict=True))
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    features = " ".join(f"{3 * k + 1}:0.25" for k in range(45))
    pairs = (f"{','.join(n)} {features}" for _, _, n in rows)
    return {
        "tsv": "".join(f"{i}\t{' '.join(n)}\t{t}\n" for i, t, n in rows).encode(),
        "jsonl": lines,
        "csv": table.getvalue().encode(),
        "parquet": file.getvalue(),
        "svmlight": "\n".join(pairs).encode(),
    }


def plain_loop(format: str, data: bytes) -> None:
    """The least a program could do in Python: decode, split, nothing checked or counted."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")
    if format == "tsv":
        [line.split("\t", 2) for line in text]
    elif format == "jsonl":
        list(map(json.loads, text))
    elif format == "csv":
        list(csv.reader(text))
    elif format == "svmlight":
        for line in text:
            [tuple(map(float, pair.split(":"))) for pair in line.split()[1:]]
    else:
        pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the best of a few rounds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def read(format: str, data: bytes) -> None:
    """Read to the end, keeping nothing."""
    for _ in open_dataset(io.BytesIO(data), ReadOptions(format=format)):
        pass


class Repeated(io.RawIOBase):
    """The same bytes over and over, as a stream that is never in memory as a whole."""

    def __init__(self, data: bytes, times: int) -> None:
        pieces = [data[start : start + (1 << 20)] for start in range(0, len(data), 1 << 20)]
        self._pieces = chain.from_iterable(repeat(pieces, times))

    def read(self, size: int = -1) -> bytes:
        """The next piece, whatever size is asked for."""
        return next(self._pieces, b"")


def peak() -> float:
    """The most memory this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growth() -> tuple[float, float]:
    """MB of JSON lines read as one stream, and by how many MB the peak grew. Measured first."""
    few = 2000
    records = islice(tickets(seed=1), few)
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    before = peak()
    for _ in open_dataset(Repeated(data, STREAMED // few), ReadOptions(format="jsonl")):  # type: ignore[arg-type]
        pass
    return len(data) * STREAMED / few / 1e6, peak() - before


def main() -> None:
    """Measure, print and write the section of docs/benchmarks.md."""
    streamed, grown = growth()
    data = corpora()
    data["jsonl, gzip"] = gzip.compress(data["jsonl"])
    data["jsonl, zstd"] = zstandard.compress(data["jsonl"])
    rows = []
    for name, content in data.items():
        format, _, compression = name.partition(", ")
        size = len(data["jsonl"] if compression else content) / 1e6
        ours = seconds(lambda: read(format, content))  # noqa: B023
        plain = 0.0 if compression else seconds(lambda: plain_loop(format, content))  # noqa: B023
        figures = [f"{size:.1f}", f"{size / ours:.0f}", f"{ours / DOCUMENTS * 1e6:.1f}"]
        rows.append(" | ".join([name, *figures, f"{size / plain:.0f}" if plain else "–"]))
        print(rows[-1])
    page = SECTION.format(
        rows="\n".join(f"| {row} |" for row in rows),
        python=platform.python_version(),
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        streamed=f"{streamed:.0f}",
        growth=f"{grown:.0f}",
        documents=f"{STREAMED:,}",
    )
    write_section("reading", page)


SECTION = """
## Reading data sets

20,000 made-up tickets in every format; CPU time, best of five rounds. 'Plain loop' is the least
that Python can do with the same bytes (`str.split`, `json.loads`, the csv module, `float`,
`pyarrow.to_pylist`), with nothing decompressed, hashed, checked or counted.

| format | MB | MB/s | µs a document | plain loop, MB/s |
|---|---|---|---|---|
{rows}

A stream of {documents} JSON lines ({streamed} MB) raised the peak memory by {growth} MB.

`.venv/bin/python scripts/bench/read.py` (Python {python}, {machine})
"""


if __name__ == "__main__":
    main()
