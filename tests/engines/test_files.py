"""What workloads share, and what their tasks give, as files that are checked when they are read."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import dask
import numpy as np
import pytest

from app.catalogue import find
from app.cli.task_pace import TaskPace
from app.engine import Extent, Task, TaskArrays
from app.engines import WORKLOADS, connection, local_copies, start, worker_task
from app.engines.parts import part_path, read_part, write_part
from app.engines.shared_files import opened, read_shared, store_array, stored_array, write_shared
from app.engines.task_count import TaskCount
from app.errors import ClusterError, InvalidRequestError, MissingExtraError
from app.state import State

ARRAYS = (np.arange(5, dtype=np.int32), np.empty(0, np.float32), np.array([[-np.inf, 2.5]]))


def test_a_part_has_its_arrays(tmp_path: Path) -> None:
    path = part_path(tmp_path, "ab", (1, 2))
    write_part(path, ARRAYS)
    found = read_part(path)
    assert found is not None
    assert [a.tobytes() for a in found] == [a.tobytes() for a in ARRAYS]
    assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in ARRAYS]
    assert [file.name for file in tmp_path.iterdir()] == ["ab-1-2.part"]


def test_a_part_that_is_missing_cut_changed_or_of_another_task_is_not_right(tmp_path: Path) -> None:
    path, other = part_path(tmp_path, "ab", (1,)), part_path(tmp_path, "ab", (2,))
    assert read_part(path) is None
    write_part(path, ARRAYS)
    content = path.read_bytes()
    for wrong in (b"", content[:20], content[:-1], b"\0" + content[1:]):
        path.write_bytes(wrong)
        assert read_part(path) is None
    other.write_bytes(content)
    assert read_part(other) is None


def test_shared_arrays_are_written_once_and_read_only(tmp_path: Path) -> None:
    arrays = {"a": ARRAYS[0], "same": ARRAYS[0].copy(), "none": ARRAYS[1], "table": ARRAYS[2]}
    handle = write_shared(tmp_path, State("kind", {"seed": 3}, arrays))
    assert len(list(tmp_path.glob("*.npy"))) == 3
    state = read_shared(tmp_path, handle)
    assert (state.kind, state.settings) == ("kind", {"seed": 3})
    assert all(np.array_equal(state.arrays[name], arrays[name]) for name in arrays)
    assert not state.arrays["a"].flags.writeable
    assert write_shared(tmp_path, State("kind", {"seed": 3}, arrays)) == handle
    assert write_shared(tmp_path, State("kind", {"seed": 4}, arrays)) != handle


@pytest.mark.parametrize("ending", ["*.npy", "*.json"])
def test_shared_files_that_were_changed_are_refused(ending: str, tmp_path: Path) -> None:
    handle = write_shared(tmp_path, State("kind", {}, {"a": ARRAYS[0]}))
    (file,) = tmp_path.glob(ending)
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ClusterError, match="was changed"):
        read_shared(tmp_path, handle)


def test_an_array_that_goes_by_its_name_is_read_where_it_is_and_refused_if_it_was_changed(
    tmp_path: Path,
) -> None:
    name, other = store_array(tmp_path, ARRAYS[0]), store_array(tmp_path, ARRAYS[2])
    handle = write_shared(tmp_path, State("kind", {}, {"a": name, "own": ARRAYS[2]}))
    assert len(list(tmp_path.glob("*.npy"))) == 2
    asked: list[str] = []

    def local(path: Path) -> Path:
        asked.append(path.stem)
        return path

    state = read_shared(tmp_path, handle, local)
    assert np.array_equal(state.arrays["a"], ARRAYS[0])
    assert asked == [other.item().decode()]
    file = tmp_path / f"{name.item().decode()}.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    opened.cache_clear()
    for read in (partial(read_shared, tmp_path, handle), partial(stored_array, tmp_path, name)):
        with pytest.raises(ClusterError, match="was changed"):
            read()


def test_what_stays_with_the_engine_is_a_name_in_the_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass
    class Doubling:
        kind: ClassVar[str] = "doubling"
        stored: ClassVar[slice] = slice(1, None)

        @classmethod
        def from_shared(cls, state: State) -> "Doubling":
            return cls()

        def run(self, task: Task) -> TaskArrays:
            return ARRAYS[0], ARRAYS[2] * task[0], ARRAYS[0] * task[0]

        def extent(self, task: Task, arrays: TaskArrays) -> Extent:
            return Extent(len(arrays[0]), arrays[1].nbytes)

    monkeypatch.setitem(WORKLOADS, "doubling", "")
    monkeypatch.setattr(
        worker_task, "find", lambda *of: Doubling if "doubling" in of else find(*of)
    )
    handle = write_shared(tmp_path, State("doubling"))
    report = worker_task.run_task(str(tmp_path), handle, (2,))
    assert report[1:] == (5, 16)
    given, *names = read_part(part_path(tmp_path, handle, (2,))) or ()
    assert np.array_equal(given, ARRAYS[0])
    assert np.array_equal(stored_array(tmp_path, names[0]), ARRAYS[2] * 2)
    assert np.array_equal(stored_array(tmp_path, names[1]), ARRAYS[0] * 2)
    assert worker_task.run_task(str(tmp_path), handle, (2,)) == worker_task.TaskReport()
    for damage in (Path.unlink, partial(Path.write_bytes, data=b"damaged")):
        damage(tmp_path / f"{names[0].item().decode()}.npy")
        assert worker_task.run_task(str(tmp_path), handle, (2,)) != worker_task.TaskReport()
        assert np.array_equal(stored_array(tmp_path, names[0]), ARRAYS[2] * 2)


def test_a_node_with_a_disk_of_its_own_copies_each_array_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Worker:
        local_directory = str(tmp_path / "node" / "worker-1")

    shared = tmp_path / "shared"
    shared.mkdir()
    Path(Worker.local_directory).mkdir(parents=True)
    monkeypatch.setattr(local_copies, "get_worker", Worker)
    assert local_copies.copies_folder(shared) is None  # one disk: a copy would only cost
    monkeypatch.setattr(local_copies, "device", lambda folder: int(folder == shared))
    handle = write_shared(shared, State("kind", {}, {"a": ARRAYS[0], "table": ARRAYS[2]}))
    for _ in range(2):
        state = read_shared(shared, handle, local_copies.local_files(shared))
        assert np.array_equal(state.arrays["table"], ARRAYS[2])
    copies = list((tmp_path / "node").rglob("*.npy"))
    assert len(copies) == 2
    copies[0].write_bytes(copies[1].read_bytes())
    with pytest.raises(ClusterError, match="was changed"):
        read_shared(shared, handle, local_copies.local_files(shared))
    local_copies.remove_copies(Worker())
    assert not list((tmp_path / "node").rglob("*.npy"))
    assert len(list(shared.glob("*.npy"))) == 2


@pytest.mark.parametrize("address", ["scheduler", "http://x:8786", "tcp://x", "local:0", "local:"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidRequestError, match="--cluster takes tcp://HOST:PORT"):
        start.check_address(address)


def test_without_dask_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "app.engines.connection")
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r"\[cluster\]"):
        start.connected("local:1", tmp_path)


def test_where_no_scheduler_answers_one_is_told_how_to_start_it(tmp_path: Path) -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:9.*dask sched"),
        connection.connected("tcp://127.0.0.1:9", tmp_path),
    ):
        pass


def test_pace_is_told_every_half_minute() -> None:
    said: list[str] = []
    times = iter([0.0, 10.0, 31.0, 40.0, 62.0, 80.0])
    pace = TaskPace(said.append, lambda: next(times))
    for done in (0, 10, 31, 40, 62, 100):
        pace(TaskCount("label-blocks", done, 100, done / 100, Extent(7, 7)), lambda: 2)
    assert said == [
        "label-blocks: 31 of 100 tasks, 1 a second, 2 workers, about 69 s left",
        "label-blocks: 62 of 100 tasks, 1 a second, 2 workers, about 38 s left",
    ]


def test_documents_and_bytes_a_second_are_those_of_the_tasks_under_way() -> None:
    said: list[str] = []
    times = iter([0.0, 50.0, 60.0, 100.0])
    pace = TaskPace(said.append, lambda: next(times))
    pace(TaskCount("read-files", 0, 4, 0.0, Extent(1000, 10**6)), lambda: 3)
    pace(TaskCount("read-files", 2, 4, 0.5, Extent(101_000, 61 * 10**6)), lambda: 3)
    pace(TaskCount("weighed-rows", 0, 4, 0.0, Extent(101_000, 61 * 10**6)), lambda: 3)
    pace(TaskCount("weighed-rows", 1, 4, 0.8, Extent(141_000, 61 * 10**6)), lambda: 3)
    assert said == [
        "read-files: 2 of 4 tasks, 0.04 a second, 2,000 documents and 1.2 MB a second, "
        "3 workers, about 50 s left",
        "weighed-rows: 1 of 4 tasks, 0.025 a second, 1,000 documents a second, "
        "3 workers, about 10 s left",
    ]
