"""A cold start: plain kernels answer at once, compiled ones take over, and nobody notices."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import httpx
import pytest
from bench.harness.processes import family

from app.compiling.completeness import marker
from app.kernel_cache import cache_folder
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

TEXTS = ["refund the invoice payment", "paper jam", "crash and restart", "", "é İ ß 中文 locked"]
BODIES: list[dict[str, Any]] = [
    {"documents": TEXTS[:1]},
    {"documents": TEXTS, "top_k": 3},
    {"documents": TEXTS, "threshold": -10},
    {"documents": TEXTS[:2], "explain": 2},
]
MEANWHILE, AFTER = "kernels are being compiled", "compiled kernels took over"
BROKEN_COMPILER = "raise RuntimeError('no such instruction')\n"


@pytest.fixture
def unmarked_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that nobody has found to be complete, though it is: compiling takes seconds."""
    folder = tmp_path / "kernels"
    shutil.copytree(cache_folder(), folder, ignore=shutil.ignore_patterns("complete-*", "lock"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kernels"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    return folder


@contextmanager
def nobody_compiles(folder: Path) -> Iterator[None]:
    """A cache that stays incomplete while this holds its lock, as another process would."""
    with (folder / marker().with_suffix(".lock").name).open("a") as lock:
        flock(lock, LOCK_EX)
        yield


def said(server: Server, words: str) -> list[dict[str, Any]]:
    return [line for line in lines(server.log) if words in line.get("message", "")]


def compiling(server: Server) -> list[int]:
    """The processes that compile for a server."""
    others = family(server.process.pid)[1:]
    return [pid for pid in others if b"app.compiling" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def answers(client: httpx.Client) -> list[Any]:
    found = [client.post("/predict", json=body) for body in BODIES]
    assert [answer.status_code for answer in found] == [200] * len(BODIES)
    return [answer.json()["predictions"] for answer in found]


def assert_alike(found: Any, expected: Any) -> None:
    """Equal labels in equal order, numbers within 1e-6."""
    if isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-6)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_alike(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other)
    else:
        assert found == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_are_the_same_while_compiled_kernels_take_over_from_plain_ones(
    unmarked_cache: Path, started: Started, workers: int
) -> None:
    with nobody_compiles(unmarked_cache):
        server = started(workers=workers, poll_seconds=0.2)
        wait_until(lambda: len(said(server, MEANWHILE)) == workers)
        with server.client() as client:
            before, rounds = answers(client), 0
    with server.client() as client:
        while len(said(server, AFTER)) < workers or rounds < 3:
            assert len(compiling(server)) <= min(2, os.cpu_count() or 1)
            assert_alike(answers(client), before)
            rounds += 1
        assert_alike(answers(client), before)
        assert client.get("/models").json()["models"][0]["state"] == "ready"
    assert not compiling(server)
    assert len(list(unmarked_cache.glob("complete-*[!k]"))) == 1


def test_a_service_that_ends_leaves_no_compiler_behind(empty_cache: Path, started: Started) -> None:
    server = started(poll_seconds=0.2)
    wait_until(lambda: bool(compiling(server)))
    processes = compiling(server)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0
    wait_until(lambda: not any(b"app.compiling" in _command(pid) for pid in processes))


def test_plain_kernels_go_on_answering_where_the_compiler_fails(
    empty_cache: Path, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "numba.py").write_text(BROKEN_COMPILER)
    monkeypatch.setenv(
        "PYTHONPATH", f"{tmp_path / 'broken'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    )
    server = started(poll_seconds=0.2)
    wait_until(lambda: bool(said(server, "could not be compiled")))
    assert "no such instruction" in said(server, "could not be compiled")[0]["message"]
    with server.client() as client:
        answers(client)
    assert not list(empty_cache.glob("complete-*[!k]"))


def test_a_cache_that_is_complete_is_used_from_the_start(server: Server) -> None:
    assert said(server, MEANWHILE) == []


def test_a_model_that_takes_long_to_load_is_listed_as_loading(
    tmp_path: Path, started: Started
) -> None:
    go_on = tmp_path / "go-on"
    patch = (
        "import time, pathlib, app.serving.registry as r; load = r.load_model\n"
        "def slow(*arguments):\n"
        f"    while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.05)\n"
        "    return load(*arguments)\n"
        "r.load_model = slow"
    )
    server = started(wait=False, patch=patch)
    with server.client() as client:
        loading = [{"name": "tiny", "state": "loading"}]
        wait_until(lambda: bool(client.get("/models").json()["models"] == loading))
        assert client.get("/models/tiny").json() == loading[0]
        assert client.get("/health/ready").status_code == 503
        go_on.touch()
        wait_until(lambda: bool(client.get("/models/tiny").json()["state"] == "ready"))
