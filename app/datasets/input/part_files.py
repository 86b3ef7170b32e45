"""The files that one name means: those of a glob, of a folder of parts, or in a remote store."""

import glob
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from app.catalogue import find
from app.errors import InvalidDataError, errno_text

REMOTE = {"by URL": "app.datasets.input.remote:remote_files"}
"""What needs fsspec is loaded on first use."""
WHOLE = ("auto", "folder")
"""Formats by which a folder is one data set of documents, not parts of a table."""
MAGIC = re.compile(r"[*?\[]")
URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
NOT_DATA = (".", "_")
"""How names begin of files that stand beside parts: hidden ones, and such as `_SUCCESS`."""


@dataclass(frozen=True, slots=True)
class PartFile:
    """One file of a data set: what messages call it, its path below the others, how it opens."""

    name: str
    inner: str
    open: Callable[[], BinaryIO]
    changed: float | None = None
    """When it was last written, in seconds since 1970; None where the store does not say."""
    size: int | None = None
    """Bytes, where they are known."""


def part_files(data: str, format: str) -> list[PartFile] | None:
    """The files in the order of their names; None for a single local file, folder or stream.

    A folder is a folder of parts only where its format is named.
    """
    if URL.match(data):
        remote: list[PartFile] = find(REMOTE, "by URL", "data")(data, format)
        return remote
    path = Path(data)
    if path.is_dir():
        return None if format in WHOLE else _found(_below(path), path, data)
    magic = MAGIC.search(data)
    if path.exists() or magic is None:
        return None
    root = Path(data[: magic.start()].rpartition("/")[0] or ".")
    return _found(map(Path, glob.glob(data, recursive=True)), root, data)


def files_of(data: str, format: str) -> list[PartFile]:
    """The same files, or a single local one; what is no file is refused."""
    files = part_files(data, format)
    if files is not None:
        return files
    path = Path(data)
    if data == "-" or path.is_dir():
        accepted = "a file, a glob in quotation marks, a folder with --format, or a URL"
        raise InvalidDataError("no files to take one by one", file=data, accepted=accepted)
    return _found([path], path.parent, data)


def absolute(name: str) -> str:
    """A file's name as processes in other folders find it: its URL, or its whole path."""
    return name if URL.match(name) else str(Path(name).resolve())


class FilePlace(NamedTuple):
    """A file as other processes find it, and what tells that it is the one that was meant."""

    name: str
    """As in the command."""
    inner: str
    place: str
    size: int | None
    changed: float | None

    @classmethod
    def of(cls, file: PartFile) -> "FilePlace":
        """Where a file is, for processes in other folders."""
        return cls(file.name, file.inner, absolute(file.name), file.size, file.changed)

    def found(self, format: str) -> PartFile:
        """The file, refused where another one has its place."""
        if URL.match(self.place):
            (there,) = files_of(self.place, format)
        else:
            path = Path(self.place)
            size = path.stat().st_size if path.is_file() else None  # gone: said when it is opened
            there = PartFile(self.name, self.inner, _Opening(path), size=size)
        if None not in (there.size, self.size) and there.size != self.size:
            problem = f"has {there.size:,} bytes, and {self.size:,} where the command looked"
            raise storage_error(f"{problem}: was it changed, or is it another file?", self.name)
        return PartFile(self.name, self.inner, there.open, self.changed, self.size)


def may_pass(error: Exception) -> bool:
    """Whether storage failed, and not the data."""
    return isinstance(error, InvalidDataError) and error.may_pass


def weights_of(files: Iterable[PartFile | FilePlace]) -> list[float]:
    """How much work each file is: its bytes, or all alike where not every size is known."""
    sizes = [file.size for file in files]
    known = [float(max(size, 1)) for size in sizes if size is not None]
    return known if len(known) == len(sizes) else [1.0] * len(sizes)


def is_data(inner: str) -> bool:
    """Whether a path below a folder of parts is one of them.

    >>> is_data("day=1/a.parquet"), is_data("_SUCCESS"), is_data(".crc/a.parquet")
    (True, False, False)
    """
    return not any(step.startswith(NOT_DATA) for step in inner.split("/"))


def storage_error(problem: str, file: str | Path) -> InvalidDataError:
    """The error for a file that could not be had, which may be otherwise the next time."""
    error = InvalidDataError(problem, file=file)
    error.may_pass = True
    return error


def nothing(data: str) -> InvalidDataError:
    """The error for a name that no file has."""
    accepted = "a file, a glob that matches files, or a folder with files in it"
    return InvalidDataError("no file is there", file=data, accepted=accepted)


def _below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if is_data(path.relative_to(folder).as_posix())]


def _found(paths: Iterable[Path], root: Path, data: str) -> list[PartFile]:
    files = sorted({path for path in paths if path.is_file()}, key=Path.as_posix)
    if not files:
        raise nothing(data)
    return [_local(path, _inner(path, root)) for path in files]


def _local(path: Path, inner: str) -> PartFile:
    about = path.stat()
    return PartFile(str(path), inner, _Opening(path), about.st_mtime, about.st_size)


def _inner(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens a local file; a failure gets the file's name."""

    path: Path

    def __call__(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise storage_error(f"cannot be opened: {errno_text(error)}", self.path) from error
