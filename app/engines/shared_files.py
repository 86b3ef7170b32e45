"""Shared files: a workload's data where every worker can map them, named by their hashes.

The same array is written once, whichever workloads share it, and is there already when a training
goes on. Where it was written before, by a worker or for another workload, it goes by its name. What
a file holds is checked by its name when it is opened, so that the name, which the driver sends, is
all that a worker has to trust.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.artifacts.folders import whole_file, write_file
from app.engine import ArrayName
from app.engines.parts import array_pieces
from app.errors import ClusterError
from app.kernels import compiled
from app.state import State

PACKAGES = ("labelserve", "llvmlite", "numba", "numpy", "scipy")
"""Whose versions may change the last digit of a result."""
CHUNK = 1 << 24
NAME = np.dtype("S64")
OPEN = 16
"""Arrays that stay open in a process: most tasks share some of theirs with the task before."""


def write_shared(folder: Path, state: State) -> str:
    """Write what a workload's tasks share; the handle by which workers find it."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: _digest_of(folder, array) for name, array in state.arrays.items()}
    content = {
        "kind": state.kind,
        "settings": state.settings,
        "arrays": arrays,
        "stored": [name for name, array in state.arrays.items() if array.dtype == NAME],
        "versions": versions(),
    }
    text = json.dumps(content, sort_keys=True, allow_nan=False).encode()
    handle = sha256(text).hexdigest()
    if not (folder / f"{handle}.json").exists():
        write_file(folder / f"{handle}.json", text)
    return handle


def read_shared(
    folder: Path, handle: str, local: Callable[[Path], Path] = lambda path: path
) -> State:
    """What `write_shared` wrote, on mapped arrays; refused where this process would differ.

    `local` gives the file to map instead of one that was written for this workload, as a copy on
    the node's own disk. What goes by its name is read where it is: most of it is read once.
    """
    text = (folder / f"{handle}.json").read_bytes()
    if sha256(text).hexdigest() != handle:
        raise ClusterError(f"{handle}.json in {folder} was changed")
    content = json.loads(text)
    _check_versions(content["versions"])
    stored, arrays = set(content["stored"]), {}
    for name, digest in content["arrays"].items():
        path = folder / f"{digest}.npy"
        arrays[name] = opened(path, digest) if name in stored else _mapped(local(path), digest)
    return State(content["kind"], content["settings"], arrays)


@lru_cache(maxsize=OPEN)
def opened(path: Path, digest: str) -> NDArray[Any]:
    """An array that goes by its name, mapped; the latest ones are not checked again."""
    return _mapped(path, digest)


def store_array(folder: Path, array: NDArray[Any]) -> ArrayName:
    """Write an array where it is not there yet; its name. The folder must be there."""
    return np.array([_write_array(folder, array)], NAME)


def stored_array(folder: Path, name: ArrayName) -> NDArray[Any]:
    """An array by its name, mapped."""
    digest = name.item().decode()
    return _mapped(folder / f"{digest}.npy", digest)


def is_stored(folder: Path, array: NDArray[Any]) -> bool:
    """Whether an array is no name, or that of an array which is there; what is wrong is removed."""
    if array.dtype != NAME:
        return True
    try:
        stored_array(folder, array)
    except FileNotFoundError:
        return False
    except ClusterError:
        (folder / f"{array.item().decode()}.npy").unlink(missing_ok=True)
        return False
    return True


def versions() -> dict[str, str]:
    """What must be the same here and there for the same bytes."""
    installed = {"kernels": "compiled" if compiled() else "plain"}
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed[name] = "none"
    return installed


def differing_versions(theirs: dict[str, str], wanted: dict[str, str] | None = None) -> str:
    """The packages whose versions are not the wanted ones, which stand in brackets."""
    wanted = wanted or versions()
    names = [name for name in wanted if theirs.get(name) != wanted[name]]
    return ", ".join(f"{name} {theirs.get(name)} ({wanted[name]})" for name in names)


def _check_versions(wanted: dict[str, str]) -> None:
    if differing := differing_versions(versions(), wanted):
        raise ClusterError(
            "a worker has other versions than the command (in brackets), which may give another "
            f"model: {differing}; install the same on both"
        )


def _digest_of(folder: Path, array: NDArray[Any]) -> str:
    return array.item().decode() if array.dtype == NAME else _write_array(folder, array)


def _write_array(folder: Path, array: NDArray[Any]) -> str:
    array = np.ascontiguousarray(array)
    digest = _digest(array)
    path = folder / f"{digest}.npy"
    if not path.exists():
        with whole_file(path) as file:
            for piece in array_pieces(array):
                file.write(piece)
    return digest


def _mapped(path: Path, digest: str) -> NDArray[Any]:
    try:
        array = _loaded(path)
    except ValueError as error:  # numpy's word for half a file
        raise ClusterError(f"{path} was changed or is not whole") from error
    if _digest(array) != digest:
        raise ClusterError(f"{path} was changed or is not whole")
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def _loaded(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        shape, _, _ = np.lib.format.read_array_header_1_0(file)
        is_empty = 0 in shape
    # An empty file cannot be mapped. What a process would write is its own, never the file's.
    array: NDArray[Any] = np.load(path, None if is_empty else "c", allow_pickle=False)
    return array


def _digest(array: NDArray[Any]) -> str:
    """SHA-256 of type, shape and values."""
    digest = sha256(f"{array.dtype.str}{array.shape}".encode())
    values = array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
    for start in range(0, len(values), CHUNK):
        digest.update(values[start : start + CHUNK].data)
    return digest.hexdigest()
