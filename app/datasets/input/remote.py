"""Files in object stores and on web servers, by URL. The only importer of fsspec."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import fsspec

from app.datasets.input.part_files import MAGIC, WHOLE, PartFile, is_data, nothing, storage_error
from app.errors import InvalidDataError

WEB_MAGIC = re.compile(r"\*")
"""In the URL of a page `?` begins a query."""
Result = TypeVar("Result")


def remote_files(data: str, format: str) -> list[PartFile]:
    """The files that a URL means, in the order of their names.

    A folder must be one of parts, with its format named: there is no labels' folder by URL.
    """
    store, path = _tried(data, lambda: fsspec.core.url_to_fs(data))
    is_web = "http" in store.protocol
    if magic := (WEB_MAGIC if is_web else MAGIC).search(path):
        found = _tried(data, lambda: store.glob(path, detail=True))
        root = path[: magic.start()].rpartition("/")[0]
    elif data.endswith("/") or (not is_web and _tried(data, lambda: store.isdir(path))):
        if format in WHOLE:
            raise InvalidDataError("a remote folder", file=data, accepted="with --format: parts")
        found, root = _tried(data, lambda: store.find(path, detail=True)), path.rstrip("/")
        found = {name: about for name, about in found.items() if is_data(_inner(name, root))}
    else:
        return [PartFile(data, path.rpartition("/")[2], _Opening(store, path, data))]
    names = sorted(name for name, about in found.items() if about.get("type") != "directory")
    if not names:
        raise nothing(data)
    return [
        PartFile(
            store.unstrip_protocol(name),
            _inner(name, root),
            _Opening(store, name, store.unstrip_protocol(name)),
            _changed(store, name),
            found[name].get("size"),
        )
        for name in names
    ]


def _inner(name: str, root: str) -> str:
    return name[len(root) :].lstrip("/") if name.startswith(root) else name.rpartition("/")[2]


def _changed(store: Any, name: str) -> float | None:
    """When the file was last written; None where the store does not tell."""
    with suppress(Exception):
        return float(store.modified(name).timestamp())
    return None


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens one file of a store."""

    store: Any
    path: str
    name: str

    def __call__(self) -> BinaryIO:
        stream = _tried(self.name, lambda: self.store.open(self.path, "rb"))
        return _RemoteFile(stream, self.name)  # type: ignore[return-value]


class _RemoteFile:
    """A stream whose failures on the way get the file's name."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self.name = stream, name

    def read(self, size: int = -1) -> bytes:
        """The next bytes, b"" at the end."""
        data: bytes = _tried(self.name, lambda: self._stream.read(size))
        return data

    def close(self) -> None:
        """Let go of the connection."""
        self._stream.close()


def _tried(name: str, step: Callable[[], Result]) -> Result:
    """What the step gives; each store has errors of its own, so any becomes a sentence."""
    try:
        return step()
    except ImportError as missing:
        problem = f"its store needs a package that is not installed: {missing}"
        raise InvalidDataError(problem, file=name) from missing
    except Exception as failed:
        problem = f"cannot be read: {str(failed) or type(failed).__name__}"
        raise storage_error(problem, name) from failed
