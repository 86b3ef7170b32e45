"""The system calls of simulated processes: functions of os, io and fcntl, made through the world.

Code under test is not changed: while `simulated` lasts, these functions stand in the modules that
Python's own library calls, too (pathlib, shutil). Each asks the world first, then makes the real
call, then tells the disk. Threads that are no simulated process get the real functions.
"""

# ruff: noqa: D102 (each method is the system call of its name)

import builtins
import errno
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any

from simulation.disk import Node
from simulation.world import Crash, Process, World

REPLACED = {
    os: (
        *("open", "close", "fsync", "read", "write", "pread", "pwrite", "stat", "lstat", "fstat"),
        *("mkdir", "rmdir", "unlink", "remove", "rename", "replace", "link", "utime"),
        *("listdir", "scandir", "access"),
    ),
    io: ("open",),
    builtins: ("open",),
    fcntl: ("flock",),
}


@contextmanager
def simulated(world: World) -> Iterator[None]:
    """The calls go through this world while the block lasts."""
    kept = {
        (module, name): getattr(module, name) for module in REPLACED for name in REPLACED[module]
    }
    real = {f"{module.__name__}.{name}": kept[module, name] for module, name in kept}
    world.close = real["os.close"]
    calls = SystemCalls(world, real)
    try:
        for (module, name), function in kept.items():
            own = getattr(calls, f"{name}_file" if module in (io, builtins) else name)
            setattr(module, name, _chosen(world, function, own))
        yield
    finally:
        for (module, name), function in kept.items():
            setattr(module, name, function)


def _chosen(world: World, real: Any, own: Any) -> Any:
    def call(*arguments: Any, **named: Any) -> Any:
        is_ours = get_ident() == world.thread
        return (own if is_ours else real)(*arguments, **named)

    return call


class SimulatedFile(io.FileIO):
    """An open file whose reads and writes are system calls of the process."""

    calls: "SystemCalls"

    def write(self, data: Any) -> int:
        """Write some of it."""
        return self.calls.write(self.fileno(), data)

    def read(self, size: int | None = -1) -> bytes:
        """Read some of it; all of the rest for -1."""
        if size is None or size < 0:
            return self.readall()
        return self.calls.read(self.fileno(), size)

    def readall(self) -> bytes:
        """Read all of the rest."""
        pieces = []
        while piece := self.read(1 << 16):
            pieces.append(piece)
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        data = self.calls.read(self.fileno(), len(buffer))
        memoryview(buffer).cast("B")[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close it; a dead process does nothing more, its world closes it."""
        if not self.closed:
            self.calls.closing(self.fileno())
        super().close()


class SystemCalls:
    """What stands for each function; `real` has the functions themselves, by module and name."""

    def __init__(self, world: World, real: dict[str, Any]) -> None:
        self._world, self._disk = world, world.disk
        self._real: Callable[[str], Any] = real.__getitem__
        self._os: dict[str, Any] = {k[3:]: v for k, v in real.items() if k.startswith("os.")}
        self._root = str(world.disk.root)
        self._file = type("File", (SimulatedFile,), {"calls": self})

    # Places

    def _process(self) -> Process:
        if self._world.running is None:
            raise Crash
        return self._world.running

    def _relative(self, path: Any, dir_fd: int | None = None) -> str | None:
        """The path from the root of the disk; None where it lies outside."""
        if dir_fd is not None:
            folder = self._process().open.get(dir_fd)
            return None if folder is None else f"{folder.path()}/{os.fspath(path)}"
        if isinstance(path, int):
            node = self._process().open.get(path)
            return None if node is None else node.path()
        text = os.fspath(path)
        is_inside = isinstance(text, str) and text.startswith(self._root)
        return text[len(self._root) :] if is_inside else None

    def _place(self, relative: str) -> tuple[Node, str]:
        folder, _, name = relative.rpartition("/")
        node = self._disk.find(folder)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), relative)
        return node, name

    def _stamp(self, node: Node | None) -> None:
        """The simulated clock's time becomes the time of the last change."""
        if node is not None:
            node.mtime = self._world.now
            self._os["utime"](f"{self._root}{node.path()}", (node.mtime, node.mtime))

    def _stamp_open(self, descriptor: int, node: Node) -> None:
        node.mtime = self._world.now
        self._os["utime"](descriptor, (node.mtime, node.mtime))

    # Files

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        relative = self._relative(path, dir_fd)
        if relative is None:
            return int(self._os["open"](path, flags, mode, dir_fd=dir_fd))
        self._world.step("create" if flags & os.O_CREAT else "open", relative)
        descriptor = int(self._os["open"](path, flags, mode, dir_fd=dir_fd))
        node = self._disk.find(relative)
        if node is None:
            folder, name = self._place(relative)
            node = Node(is_folder=False)
            self._disk.add(folder, name, node)
            self._stamp_open(descriptor, node)
            self._stamp(folder)
        elif flags & os.O_TRUNC:
            node.content.clear()
        self._process().open[descriptor] = node
        return descriptor

    def open_file(  # noqa: PLR0913
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        relative = self._relative(file)
        if relative is None:
            real = self._real("io.open")
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        plain = mode.replace("b", "").replace("t", "")
        descriptor = file if isinstance(file, int) else self.open(file, _flags(plain), 0o666)
        raw = self._file(descriptor, plain.replace("x", "w"), closefd=True)
        raw.name = file
        self._process().files.append(raw)
        if buffering == 0:
            return raw
        kinds = {"r": io.BufferedReader, "r+": io.BufferedRandom, "x+": io.BufferedRandom}
        buffered: Any = kinds.get(plain, io.BufferedWriter)(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline)

    def closing(self, descriptor: int) -> None:
        """A file object is about to be closed by its process."""
        process = self._world.running
        is_open = process is not None and process.open.pop(descriptor, None) is not None
        if process is not None and is_open and not process.is_dead:
            self._world.trace.append(f"{process.name} close")

    def close(self, descriptor: int) -> None:
        self.closing(descriptor)
        self._os["close"](descriptor)

    def fsync(self, descriptor: int) -> None:
        node = self._process().open[descriptor]
        try:
            self._world.step("fsync", node.path())
        except OSError:
            node.is_lost = not node.is_folder
            raise
        self._disk.sync(node)

    def read(self, descriptor: int, size: int) -> bytes:
        if descriptor not in self._process().open:
            return bytes(self._os["read"](descriptor, size))
        self._world.step("read")
        return bytes(self._os["read"](descriptor, self._world.shortened(size)))

    def pread(self, descriptor: int, size: int, offset: int) -> bytes:
        self._world.step("read")
        length = len(self._process().open[descriptor].content) - offset
        return bytes(
            self._os["pread"](descriptor, self._world.shortened(min(size, length)), offset)
        )

    def write(self, descriptor: int, data: Any) -> int:
        return self._written(descriptor, data, os.lseek(descriptor, 0, os.SEEK_CUR), "write")

    def pwrite(self, descriptor: int, data: Any, offset: int) -> int:
        return self._written(descriptor, data, offset, "pwrite")

    def _written(self, descriptor: int, data: Any, offset: int, call: str) -> int:
        node = self._process().open[descriptor]
        piece = bytes(memoryview(data).cast("B"))
        self._world.step("write", f"{node.path()} {len(piece)}")
        piece = piece[: self._world.shortened(len(piece))]
        place = (offset,) if call == "pwrite" else ()
        count = int(self._os[call](descriptor, piece, *place))
        if offset > len(node.content):
            node.content.extend(bytes(offset - len(node.content)))
        node.content[offset : offset + count] = piece[:count]
        self._stamp_open(descriptor, node)
        return count

    def flock(self, file: Any, operation: int) -> None:
        descriptor = file if isinstance(file, int) else file.fileno()
        while True:
            self._world.step("flock")
            try:
                self._real("fcntl.flock")(descriptor, operation | fcntl.LOCK_NB)
            except BlockingIOError:
                if operation & fcntl.LOCK_NB:
                    raise
                self._world.sleep(0.01)
            else:
                return

    # Names

    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> Any:
        relative = self._relative(path, dir_fd)
        if relative is not None:
            self._world.step("stat", relative)
        return self._os["stat"](path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    def lstat(self, path: Any, *, dir_fd: int | None = None) -> Any:
        return self.stat(path, dir_fd=dir_fd, follow_symlinks=False)

    def fstat(self, descriptor: int) -> Any:
        return self._os["fstat"](descriptor)

    def access(self, path: Any, mode: int, **named: Any) -> Any:
        return self._os["access"](path, mode, **named)

    def utime(self, path: Any, times: Any = None, **named: Any) -> None:
        relative = self._relative(path)
        self._world.step("utime", str(relative))
        self._os["utime"](path, times, **named)
        node = None if relative is None else self._disk.find(relative)
        if node is not None:
            node.mtime = times[1] if times else self._world.now

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        relative = self._relative(path, dir_fd)
        if relative is None:
            self._os["mkdir"](path, mode, dir_fd=dir_fd)
            return
        self._world.step("mkdir", relative)
        self._os["mkdir"](path, mode, dir_fd=dir_fd)
        folder, name = self._place(relative)
        node = Node(is_folder=True)
        self._disk.add(folder, name, node)
        self._stamp(node)
        self._stamp(folder)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("rmdir", path, dir_fd)

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("unlink", path, dir_fd)

    remove = unlink

    def _removed(self, call: str, path: Any, dir_fd: int | None) -> None:
        relative = self._relative(path, dir_fd)
        if relative is None:
            self._os[call](path, dir_fd=dir_fd)
            return
        self._world.step("unlink", relative)
        self._os[call](path, dir_fd=dir_fd)
        folder, name = self._place(relative)
        self._disk.remove(folder, name)
        self._stamp(folder)

    def rename(self, source: Any, target: Any) -> None:
        self._moved("rename", source, target)

    def replace(self, source: Any, target: Any) -> None:
        self._moved("replace", source, target)

    def _moved(self, call: str, source: Any, target: Any) -> None:
        old, new = self._relative(source), self._relative(target)
        if old is None or new is None:
            self._os[call](source, target)
            return
        self._world.step("rename", f"{old} {new}")
        self._os[call](source, target)
        folder, name = self._place(old)
        target_folder, new_name = self._place(new)
        self._disk.rename(folder, name, target_folder, new_name)
        self._stamp(folder)
        self._stamp(target_folder)

    def link(self, source: Any, target: Any) -> None:
        old, new = str(self._relative(source)), str(self._relative(target))
        self._world.step("link", f"{old} {new}")
        self._os["link"](source, target)
        if node := self._disk.find(old):
            self._disk.add(*self._place(new), node)

    # Listings: in any order, as file systems give them

    def listdir(self, path: Any = ".") -> list[str]:
        names = sorted(self._os["listdir"](path))
        if self._relative(path) is not None:
            self._world.step("list", str(self._relative(path)))
            names = sorted(self._os["listdir"](path))
            self._world.random.shuffle(names)
        return names

    def scandir(self, path: Any = ".") -> Any:
        if self._relative(path) is None:
            return self._os["scandir"](path)
        self._world.step("list", str(self._relative(path)))
        with self._os["scandir"](path) as found:
            entries = sorted(found, key=lambda entry: str(entry.name))
        self._world.random.shuffle(entries)
        return Listing(entries, partial(self._world.step, "next"))


class Listing:
    """The entries of a folder: others may go on between two of them."""

    def __init__(self, entries: list[Any], between: Callable[[], None]) -> None:
        self._entries, self._between = iter(entries), between

    def __iter__(self) -> "Listing":
        return self

    def __next__(self) -> Any:
        entry = next(self._entries)
        self._between()
        return entry

    def __enter__(self) -> "Listing":
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is held."""


def _flags(mode: str) -> int:
    kinds = {
        "r": os.O_RDONLY,
        "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
        "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
        "x+": os.O_RDWR | os.O_CREAT | os.O_EXCL,
        "r+": os.O_RDWR,
        "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    }
    return kinds[mode] | os.O_CLOEXEC
