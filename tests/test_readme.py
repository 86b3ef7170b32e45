"""The README's commands, run as a stranger would: in a fresh copy of the tree, word for word."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines() if line]
SHOWN = [json.loads(block) for kind, block in BLOCKS if kind == "json"]
ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git has, beside the environment that is installed already."""
    folder = tmp_path_factory.mktemp("clone") / "labelserve"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in ("pyproject.toml", "constraints.txt"):
        os.utime(folder / name, (0, 0))  # so that make does not install the copy instead
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.fixture(scope="module")
def service(copy: Path) -> Iterator[str]:
    """`make serve`, until it is ready, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "LABELSERVE_PORT": str(port)}
    with subprocess.Popen(
        ["make", "serve"], cwd=copy, env=environment, start_new_session=True
    ) as process:
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}/health/ready", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "make serve ended by itself"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("make serve was not ready within two minutes")


def shell(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_command_of_the_readme_does_what_it_says(copy: Path, service: str) -> None:
    answers = {}
    for command in COMMANDS:
        if command not in ("make serve", "make test"):
            answers[command] = shell(command.replace(ADDRESS, service), copy)
    predicted, evaluated = (json.loads(answers[c]) for c in COMMANDS if c.startswith("curl"))
    assert _shape(predicted) == _shape(SHOWN[0])
    labels = [found["label"] for found in predicted["predictions"][0]["labels"]]
    assert labels == [found["label"] for found in SHOWN[0]["predictions"][0]["labels"]]
    assert evaluated["data"]["documents"] == 800
    assert (copy / "report.html").stat().st_size > 10_000
    (table,) = [block for kind, block in BLOCKS if kind == "csv"]
    numbers = re.compile(r"\b0\.\d+")
    assert numbers.sub("p", answers["cat labelled.csv"]) == numbers.sub("p", table)


def test_a_second_make_serve_trains_nothing_anew(copy: Path, service: str) -> None:
    before = sorted((copy / "models" / "demo").iterdir())
    shell("make demo", copy)
    assert sorted((copy / "models" / "demo").iterdir()) == before


def test_every_page_that_the_readme_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_word_of_the_readme_is_in_the_makefile() -> None:
    words = set(re.findall(r"make ([a-z][a-z-]*)", README))
    makefile = (ROOT / "Makefile").read_text()
    assert [word for word in words if not re.search(rf"^{word}:", makefile, re.MULTILINE)] == []


def _shape(value: object) -> object:
    """The names in a JSON value, without its numbers and texts."""
    if isinstance(value, dict):
        return {name: _shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    return type(value).__name__
