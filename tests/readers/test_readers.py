"""Whatever bytes a reader is given: what it promises, or an error of ours.

`regressions/` has a folder a reader, with inputs that are tried in every run: those that once ended
otherwise, and odd ones to begin with. A new one is a file more: what hypothesis prints of a
failure, as bytes.
"""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.artifacts.manifest import manifest_bytes, read_manifest
from app.datasets.base import ReadOptions
from app.datasets.reading import open_dataset
from app.errors import AppError
from app.hand_rules.rules_file import load_rules
from app.serving.keys import KeysFile
from app.training.recipe import read_recipe
from app.vectorizers.tfidf_settings import TfidfSettings
from tests.datasets.cases import SAMPLES
from tests.datasets.test_hostile import damaged

REGRESSIONS = Path(__file__).parent / "regressions"
FIELDS = {
    "labels": 1,
    "state": {"kind": "x", "settings": {}, "arrays": [], "parts": {}},
    "files": {"a.npy": {"size": 1, "dtype": "<f4", "shape": [1], "sha256": "0" * 64}},
    "data": {"sha256": "0" * 64, "counts": {"documents": 1}},
    "seed": 0,
    "recipe": {},
    "packages": {"labelserve": "0.1.0"},
    "timings": {"fit": 0.5},
    "figures": {"f1": [0.5, None]},
    "golden": [{"text": "a", "top": [[0, 0.5]]}],
    "version": "v",
    "created": "now",
}
DATASET = b'{"text": "a", "labels": ["b"], "id": 1}\n' * 3
RECIPE = b"""
[learner]
kind = "one-vs-rest"
C = 1.0
[features]
kind = "tfidf"
ngrams = [1, 2]
[[features.parts]]
kind = "tfidf"
[decision]
tune = "micro-f"
"""
RULES = b"""
[[rules]]
name = "refund"
when = '"money back" or refund* near/3 order and not spam'
assign = "refund"
because = "they ask"
[[rules]]
when = "(a or b) and c"
forbid = "billing"
"""
KEY = {
    "id": "0a1b2c3d",
    "sha256": "0" * 64,
    "scopes": ["predict"],
    "models": ["demo"],
    "created": "2026-01-01T00:00:00+00:00",
    "expires": "2026-01-01T00:00:00+00:00",
    "requests_per_minute": 5,
}


def read_datasets(content: bytes, file: Path) -> None:
    for format in SAMPLES:
        options = ReadOptions(format=format)  # type: ignore[arg-type]
        try:
            for _ in open_dataset(io.BytesIO(content), options):
                pass
        except AppError:
            continue


def read_manifests(content: bytes, file: Path) -> None:
    read_manifest(content, "demo@v")


def read_recipes(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    read_recipe(file)


def read_rules(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    load_rules(file, TfidfSettings().analysis)


def read_keys(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    for key in KeysFile(file).keys():  # noqa: SIM118
        assert key.identity.name == key.id


READERS: dict[str, tuple[Callable[[bytes, Path], None], bytes]] = {
    "datasets": (read_datasets, DATASET),
    "manifests": (read_manifests, manifest_bytes(FIELDS)),
    "recipes": (read_recipes, RECIPE),
    "rules": (read_rules, RULES),
    "keys": (read_keys, json.dumps({"keys": [KEY]}).encode()),
}


def check(reader: str, content: bytes, file: Path) -> None:
    with suppress(AppError):
        READERS[reader][0](content, file)


@pytest.mark.parametrize("reader", READERS)
def test_a_right_file_is_read(reader: str, tmp_path: Path) -> None:
    read, sample = READERS[reader]
    read(sample, tmp_path / "file")


@pytest.mark.parametrize("reader", READERS)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_damaged_file_is_read_or_named(reader: str, data: st.DataObject, tmp_path: Path) -> None:
    check(reader, data.draw(damaged(READERS[reader][1])), tmp_path / "file")


KEPT = [(folder.name, path) for folder in REGRESSIONS.iterdir() for path in folder.iterdir()]


@pytest.mark.parametrize(("reader", "file"), KEPT, ids=lambda value: getattr(value, "name", value))
def test_an_input_that_once_broke_a_reader_breaks_it_no_more(
    reader: str, file: Path, tmp_path: Path
) -> None:
    check(reader, file.read_bytes(), tmp_path / "file")
