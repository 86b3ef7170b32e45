"""docs/python.md, and the README: every block runs and prints what the page shows."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import labelserve
from app.datasets.demo.corpus import write_demo
from tests.reliability.servers import start

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "python.md").read_text()
README = (DOCS.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README + PAGE, re.DOTALL)
ADDRESS = "http://127.0.0.1:8000"
VERSION, NUMBER = r"\d{8}T\d{6}-[0-9a-f]{6}", r"-?\d[\d,]*(\.\d+)?"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What `make serve` leaves: a corpus, a model, and a service with it."""
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path / "demo")
    labelserve.train("demo/train.jsonl").save("models", "demo")
    server = start(tmp_path, models_dir=tmp_path / "models")
    yield server.url
    server.stop()


def test_every_block_prints_what_the_page_shows(service: str) -> None:
    names: dict[str, Any] = {}
    for code, shown in BLOCKS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code.replace(ADDRESS, service), "docs/python.md", "exec"), names)  # noqa: S102
        assert _shape(printed.getvalue()) == _shape(shown), code


def test_every_block_of_both_is_run() -> None:
    assert len(BLOCKS) == (README + PAGE).count("```python")


def test_every_page_that_it_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert [link for link in links if not (DOCS / link).exists()] == []


def _shape(text: str) -> str:
    """The text without its numbers, and without how wide they were."""
    return re.sub(" +", " ", re.sub(NUMBER, "0", re.sub(VERSION, "VERSION", text)))
