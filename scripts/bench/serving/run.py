"""Serving one document over HTTP: this service beside plain FastAPI, LitServe, BentoML, MLServer.

The server is pinned to one core, the load (wrk) to the other; servers take turns, medians count.
Every request has a request id, a trace and a client's address of its own, as behind a gateway.
"""

import gzip
import json
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.debtags_model import MODELS, prepare, stacked
from bench.harness.environment import data_folder, is_quick
from bench.harness.peers_venv import ensure
from bench.harness.sections import footer, keep_figures, write_section
from bench.serving.server import FILES, MeasuredServer
from bench.serving.wrk import WrkRun

CONNECTIONS = (1, 8, 64)
CPU_CONNECTIONS = 8
N_TEXTS = 500
PEERS = {
    "fastapi": ("plain FastAPI + pydantic + scikit-learn", "/predict"),
    "litserve": ("LitServe", "/predict"),
    "bentoml": ("BentoML", "/predict"),
    "mlserver": ("MLServer", "/v2/models/debtags/infer"),
    "constant": ("uvicorn, constant answer", "/predict"),
}
FRAMEWORKS = ("litserve", "bentoml", "mlserver")


def main() -> None:
    """Measure, print and write the section `serving`."""
    if shutil.which("wrk") is None:
        sys.exit("this benchmark needs the program wrk")
    ensure()
    prepare()
    _prepare_files()
    turns, seconds = (1, 1) if is_quick() else (5, 4)
    servers = [MeasuredServer("labelserve", "**labelserve**", "/predict")]
    servers += [MeasuredServer(name, *about) for name, about in PEERS.items()]
    for _ in range(turns):
        for server in servers:
            _turn(server, seconds)
    text = section(servers, turns, seconds)
    print(text)
    write_section("serving", text)
    keep_figures("serving", figures(servers))


def _turn(server: MeasuredServer, seconds: int) -> None:
    """Start a server, measure it with every number of connections, and end it."""
    if server.failure:
        return
    running, bodies = server.start(), _write_bodies(server)
    loads = [WrkRun(bodies, "changing", connections, seconds) for connections in CONNECTIONS]
    loads.append(WrkRun(bodies, "same", CPU_CONNECTIONS, seconds))
    try:
        running.wait()
        running.answer(WrkRun(bodies, "changing", CPU_CONNECTIONS, 1))
        for load in loads:
            figures = running.answer(load)
            server.turns.setdefault((load.heads, load.connections), []).append(figures)
        server.memory = running.memory()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        server.failure = str(error)
    finally:
        running.stop()


def section(servers: list[MeasuredServer], turns: int, seconds: int) -> str:
    """The section in Markdown."""
    ours, plain, floor = (_named(servers, n) for n in ("labelserve", "fastapi", "constant"))
    cpu = [one.median(CPU_CONNECTIONS, "cpu") for one in (ours, plain, floor)]
    lines = [
        "## Serving one document",
        "",
        "debtags (594 labels), one short text a request, top 5; the server on one core, wrk on "
        f"the other; medians of {turns} turns of {seconds} s, servers alternating. CPU is of all "
        "the server's processes, at 8 connections. req/s, p50 and p99 (ms) are at 1 / 8 / 64 "
        "connections. As behind a gateway, every request has an `X-Request-ID`, a `traceparent` "
        "and an `X-Forwarded-For` of its own; the last column is the CPU where every request has "
        "the same head, without them.",
        "",
        "| server | CPU µs a request | req/s | p50 | p99 | memory MB | CPU µs, same head |",
        "|---|---|---|---|---|---|---|",
        *(_row(server) for server in servers),
        "",
        f"CPU a request: 1/{cpu[1] / cpu[0]:.1f} of plain FastAPI, {cpu[0] / cpu[2]:.1f} times "
        "uvicorn's constant answer.",
        "",
        footer(".venv/bin/python scripts/bench/run.py --only serve", PEERS),
    ]
    return "\n".join(lines)


def figures(servers: list[MeasuredServer]) -> dict[str, Any]:
    """CPU a request and memory, and the least lead over the other frameworks in any figure."""
    ours, leads = servers[0], []
    for peer in servers:
        if peer.name not in FRAMEWORKS or peer.failure:
            continue
        leads.append(peer.memory / ours.memory)
        for connections in CONNECTIONS:
            leads.append(ours.median(connections, "rate") / peer.median(connections, "rate"))
            for figure in ("p50", "p99"):
                leads.append(peer.median(connections, figure) / ours.median(connections, figure))
    cpu = {one.name: one.median(CPU_CONNECTIONS, "cpu") for one in servers if not one.failure}
    return {"cpu": cpu, "least_lead": min(leads)}


def _row(server: MeasuredServer) -> str:
    if server.failure:
        return f"| {server.title} | {server.failure} | | | | | |"

    def at(figure: str, form: str) -> str:
        return " / ".join(format(server.median(c, figure), form) for c in CONNECTIONS)

    return (
        f"| {server.title} | {server.median(CPU_CONNECTIONS, 'cpu'):.0f} | {at('rate', '.0f')} | "
        f"{at('p50', '.2f')} | {at('p99', '.2f')} | {server.memory:.0f} | "
        f"{server.median(CPU_CONNECTIONS, 'cpu', 'same'):.0f} |"
    )


def _prepare_files() -> None:
    """What servers and load need: the model alone in a folder, labels, texts, an answer."""
    from app.artifacts.store import Store
    from app.model import load_model

    FILES.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(FILES / "models", ignore_errors=True)
    shutil.copytree(MODELS / "debtags", FILES / "models" / "debtags")
    names = load_model(Store(MODELS), "debtags").classifier.labels.names
    facts = {
        "train": str(data_folder().resolve() / "debtags" / "train.txt.gz"),
        "stacked": str(FILES / "stacked.npy"),
        "labels": list(names),
    }
    np.save(FILES / "stacked.npy", stacked())
    (FILES / "facts.json").write_text(json.dumps(facts))
    running = MeasuredServer("labelserve", "", "/predict").start()
    try:
        running.wait()
        (FILES / "answer.json").write_bytes(running.ask())
    finally:
        running.stop()


def _write_bodies(server: MeasuredServer) -> Path:
    """Write a server's requests for the first test texts, one a line."""
    with gzip.open(data_folder() / "debtags" / "test.txt.gz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[-1] for line in islice(lines, N_TEXTS)]
    file = FILES / f"{server.name}.bodies"
    file.write_bytes(b"".join(server.body(text) + b"\n" for text in texts))
    return file


def _named(servers: list[MeasuredServer], name: str) -> MeasuredServer:
    return next(server for server in servers if server.name == name)


if __name__ == "__main__":
    main()
