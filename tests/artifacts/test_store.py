"""The store: what is written comes back, atomically, in order, and nothing else is touched."""

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.artifacts.folders import whole_file
from app.artifacts.info import Info
from app.artifacts.store import Store
from app.artifacts.versions import next_version
from app.errors import (
    ConflictError,
    DamagedArtifactError,
    InvalidRequestError,
    ModelNotFoundError,
    SettingsError,
)
from app.state import State, pack_strings, unpack_strings


def a_state(weights: Any = ((1.5, -2.0), (0.0, 0.25), (3.0, 4.0))) -> State:
    learner = State("one-vs-rest", {"C": 1.0}, {"weights": np.array(weights, np.float32)})
    vectorizer = State("tfidf", {"lower": True}, {"idf": np.ones(3, np.float32)})
    member = State("member", parts={"vectorizer": vectorizer, "learner": learner})
    cuts = np.array([0.5, np.inf], np.float32)
    decision = State("score-cut", {"name": "micro-f"}, {"cuts": cuts})
    labels = pack_strings(["corn", "wheat"], "labels")
    return State("classifier", {"members": 1}, labels, {"member0": member, "decision": decision})


def an_info(**changes: Any) -> Info:
    golden = [{"text": "bushels of wheat", "top": [[1, 0.75], [0, -0.5]]}]
    facts: dict[str, Any] = {
        "data_sha256": "ab" * 32,
        "counts": {"documents": 7, "labels": 2, "pairs": 9},
        "training_counts": np.array([4, 5], np.int64),
        "packages": {"labelserve": "0.1.0"},
        "timings": {"fit": 0.25},
        "figures": {"micro": {"f1": 0.875, "best": float("inf")}},
        "golden": golden,
    }
    return Info(**{**facts, **changes})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "models")


def test_what_was_written_comes_back_read_only(store: Store) -> None:
    seen = np.array([1, 2**64 - 1], np.uint64)
    version = store.write("demo", a_state(), an_info(documents=seen))
    artifact = store.load("demo", version)
    learner = artifact.state.parts["member0"].parts["learner"]
    assert (learner.kind, learner.settings) == ("one-vs-rest", {"C": 1.0})
    assert learner.arrays["weights"].tolist() == [[1.5, -2.0], [0.0, 0.25], [3.0, 4.0]]
    assert unpack_strings(artifact.state.arrays, "labels") == ["corn", "wheat"]
    assert artifact.training_counts.tolist() == [4, 5]
    assert artifact.documents is not None
    assert artifact.documents.tolist() == seen.tolist()
    assert artifact.manifest.figures == {"micro": {"f1": 0.875, "best": None}}
    assert artifact.manifest.golden[0].top == [(1, 0.75), (0, -0.5)]
    with pytest.raises(ValueError, match="read-only"):
        learner.arrays["weights"][0, 0] = 9


ARRAYS = [
    np.zeros((0, 3), np.float32),
    np.array(7, np.int64),
    np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3)),
    np.arange(10, dtype=np.int32)[::2],
    np.arange(4, dtype=">i2"),
    np.array([True, False]),
    np.arange(3, dtype=np.float16),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_of_every_form_keep_their_values(store: Store, array: Any) -> None:
    state = State("x", arrays={"values": array})
    version = store.write("m", state, an_info())
    read = store.load("m", version).state.arrays["values"]
    assert np.load(store.path / "m" / version / "values.npy").tolist() == array.tolist()
    assert read.shape == array.shape
    assert read.dtype == array.dtype.newbyteorder("<")
    assert read.tolist() == array.tolist()
    assert not read.flags.writeable


def test_equal_trainings_write_equal_files(store: Store) -> None:
    first = store.write("demo", a_state(), an_info())
    second = store.write("demo", a_state(), an_info(timings={"fit": 99.0}))
    assert first < second
    folders = [store.path / "demo" / version for version in (first, second)]
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in folders]
    for manifest in manifests:
        for field in ("version", "created", "timings"):
            del manifest[field]
    assert manifests[0] == manifests[1]
    for file in manifests[0]["files"]:
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes()


def test_objects_and_values_that_are_not_finite_are_never_written(store: Store) -> None:
    with pytest.raises(ValueError, match="plain numbers"):
        store.write("demo", State("x", arrays={"a": np.array([{}])}), an_info())
    with pytest.raises(DamagedArtifactError, match="not finite"):
        store.write("demo", a_state(weights=[[np.nan]]), an_info())
    assert store.names() == []
    assert list((store.path / "demo").iterdir()) == []


def test_current_is_what_was_promoted_last(store: Store) -> None:
    first, second = (store.write("demo", a_state(), an_info()) for _ in range(2))
    assert store.current("demo") is None
    store.promote("demo", second)
    assert store.resolve("demo") == ("demo", second)
    store.promote("demo", first)
    assert store.resolve("demo") == ("demo", first)
    assert store.resolve(f"demo@{second}") == ("demo", second)


@pytest.mark.parametrize(
    "name", ["", "../demo", "demo/..", ".", "Demo", "demo\x00", "x" * 65, "de mo"]
)
def test_a_name_of_another_form_is_neither_found_nor_written(store: Store, name: str) -> None:
    version = store.write("demo", a_state(), an_info())
    store.promote("demo", version)
    for ask in (store.resolve, store.versions, store.current):
        with pytest.raises(ModelNotFoundError, match="demo"):
            ask(name)
    with pytest.raises(ModelNotFoundError):
        store.resolve(f"demo@../{version}")
    with pytest.raises(InvalidRequestError):
        store.write(name, a_state(), an_info())


def test_the_current_version_cannot_be_removed_and_prune_keeps_it(store: Store) -> None:
    versions = [store.write("demo", a_state(), an_info()) for _ in range(4)]
    store.promote("demo", versions[0])
    with pytest.raises(ConflictError):
        store.remove("demo", versions[0])
    assert store.prune("demo", 2) == [versions[1]]
    assert store.versions("demo") == [versions[0], versions[2], versions[3]]
    store.remove("demo", versions[3])
    assert store.versions("demo") == [versions[0], versions[2]]


def test_a_pointer_to_nothing_is_said_clearly(store: Store) -> None:
    store.write("demo", a_state(), an_info())
    (store.path / "demo" / "current").write_text("20200101T000000-000000\n")
    with pytest.raises(DamagedArtifactError, match="names a version that is not here"):
        store.resolve("demo")


def test_a_mapped_version_stays_readable_after_its_removal(store: Store) -> None:
    version = store.write("demo", a_state(), an_info())
    artifact = store.load("demo", version)
    store.remove("demo", version)
    assert artifact.training_counts.tolist() == [4, 5]
    assert store.names() == []


WRITE_FOREVER = """
import sys
from pathlib import Path
import numpy as np
from app.artifacts.info import Info
from app.artifacts.store import Store
from app.state import State
state = State("x", arrays={f"a{i}": np.ones(1000) for i in range(20)})
while True:
    version = Store(Path(sys.argv[1])).write("demo", state, Info("0" * 64, {}, np.ones(2, int)))
    print(version, flush=True)
"""


def test_writers_at_once_and_killed_ones_leave_only_whole_versions(store: Store) -> None:
    command = [sys.executable, "-c", WRITE_FOREVER, str(store.path)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    written = []
    for writer in writers:
        assert writer.stdout is not None
        written.append(writer.stdout.readline().decode().strip())
        writer.kill()
        writer.communicate(timeout=10)
    versions = store.versions("demo")
    assert set(written) <= set(versions)
    for version in versions:
        store.load("demo", version)
    store.prune("demo", 1)
    assert os.listdir(store.path / "demo") == versions[-1:]


def test_a_folder_being_written_is_not_cleaned_by_others(store: Store) -> None:
    state = a_state()
    other = Store(store.path)

    class Slow(dict[str, Any]):
        def items(self) -> Any:
            other.write("demo", a_state(), an_info())  # cleans what seems abandoned
            return super().items()

    slow = State(state.kind, state.settings, Slow(state.arrays), state.parts)
    store.load("demo", store.write("demo", slow, an_info()))
    assert len(store.versions("demo")) >= 2


def test_a_pointer_being_written_is_not_cleaned_but_one_of_long_ago_is(store: Store) -> None:
    store.write("demo", a_state(), an_info())
    fresh, old = (store.path / "demo" / f".unfinished-{name}" for name in ("fresh", "old"))
    fresh.touch()
    old.touch()
    os.utime(old, (0, 0))
    store.write("demo", a_state(), an_info())
    assert fresh.exists()
    assert not old.exists()


def test_a_folder_one_may_not_write_in_is_said_clearly(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(SettingsError, match="cannot write"):
        Store(tmp_path / "models").write("demo", a_state(), an_info())


@given(st.integers(-(10**9), 10**9), st.integers(0, 16**6 - 1))
def test_the_next_version_always_sorts_after_the_newest(shift: int, fraction: int) -> None:
    moment = datetime(2026, 11, 15, 12, tzinfo=UTC)
    newest = f"{moment + timedelta(seconds=shift):%Y%m%dT%H%M%S}-{fraction:06x}"
    assert next_version(moment, newest) > newest


def test_a_folder_that_is_not_there_is_named_as_such(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match=r"there is no such folder: .*nodir"),
        whole_file(tmp_path / "nodir" / "out.csv"),
    ):
        pass


def test_a_model_without_a_current_version_is_not_said_to_be_missing(
    tiny_models: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_models, tmp_path / "models")
    store = Store(tmp_path / "models")
    _, version = store.resolve("tiny")
    (tmp_path / "models" / "tiny" / "current").unlink()
    with pytest.raises(ModelNotFoundError, match=f"no current version of tiny, but .*{version}"):
        store.resolve("tiny")
