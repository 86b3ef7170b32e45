"""What workloads share, and what their tasks give, as files that are checked when they are read."""

import sys
from pathlib import Path

import dask
import numpy as np
import pytest

from app.cli.task_pace import TaskPace
from app.engines import connection, local_copies, start
from app.engines.parts import is_right, part_path, read_part, write_part
from app.engines.shared_files import read_shared, write_shared
from app.errors import ClusterError, InvalidRequestError, MissingExtraError
from app.state import State

ARRAYS = (np.arange(5, dtype=np.int32), np.empty(0, np.float32), np.array([[-np.inf, 2.5]]))


def test_a_part_has_its_arrays(tmp_path: Path) -> None:
    path = part_path(tmp_path, "ab", (1, 2))
    write_part(path, ARRAYS)
    assert is_right(path)
    found = read_part(path)
    assert found is not None
    assert [a.tobytes() for a in found] == [a.tobytes() for a in ARRAYS]
    assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in ARRAYS]
    assert [file.name for file in tmp_path.iterdir()] == ["ab-1-2.part"]


def test_a_part_that_is_missing_cut_changed_or_of_another_task_is_not_right(tmp_path: Path) -> None:
    path, other = part_path(tmp_path, "ab", (1,)), part_path(tmp_path, "ab", (2,))
    assert not is_right(path)
    write_part(path, ARRAYS)
    content = path.read_bytes()
    for wrong in (b"", content[:20], content[:-1], b"\0" + content[1:]):
        path.write_bytes(wrong)
        assert not is_right(path)
        assert read_part(path) is None
    other.write_bytes(content)
    assert not is_right(other)


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
        pace("label-blocks", done, 100, lambda: 2)
    assert said == [
        "label-blocks: 31 of 100 tasks, 1 a second, 2 workers, about 69 s left",
        "label-blocks: 62 of 100 tasks, 1 a second, 2 workers, about 38 s left",
    ]
