"""Disk: which entries and bytes of a folder outlive a power cut, beside the real files.

The calls of a simulated process are made for real, in a folder of their own, and told to the disk.
It knows what fsync has made durable. At a power cut everything else may be there, be lost, be torn
or be there without what came before it, as POSIX allows; one rename is atomic, as file systems in
use promise, and a sector of 512 bytes is written as a whole.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

SECTOR = 512


@dataclass(eq=False)
class Node:
    """A file or a folder: what processes see, and what is durable of it."""

    is_folder: bool
    parent: "Node | None" = None
    name: str = ""
    entries: dict[str, "Node"] = field(default_factory=dict)
    durable_entries: dict[str, "Node"] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    is_lost: bool = False
    """Whether an fsync has failed: the kernel has forgotten what was not written by then."""
    mtime: float = 0.0

    def path(self) -> str:
        """Where it is, from the root of the disk."""
        return "" if self.parent is None else f"{self.parent.path()}/{self.name}"

    def files(self, path: str = "") -> Iterator[tuple[str, "Node"]]:
        """Everything below a folder, as processes see it, by its path."""
        for name, node in sorted(self.entries.items()):
            yield f"{path}/{name}", node
            if node.is_folder:
                yield from node.files(f"{path}/{name}")


@dataclass(eq=False)
class Change:
    """A change of folders' entries that is not durable yet: (folder, name, node or None) each."""

    entries: list[tuple[Node, str, Node | None, Node | None]]
    """Folder, name, what is there afterwards, what was there before."""

    def apply(self) -> None:
        """Make it durable; a removal only concerns the very file that was removed."""
        for folder, name, after, before in self.entries:
            if after is not None:
                folder.durable_entries[name] = after
            elif folder.durable_entries.get(name) is before:
                folder.durable_entries.pop(name, None)


class Disk:
    """One file system, whose root is a real folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.top = Node(is_folder=True)
        self._pending: list[Change] = []

    def find(self, relative: str) -> Node | None:
        """The file or folder of this path."""
        node: Node | None = self.top
        for name in filter(None, relative.split("/")):
            node = None if node is None else node.entries.get(name)
        return node

    def add(self, folder: Node, name: str, node: Node) -> None:
        """A new entry."""
        if node.parent is None:
            node.parent, node.name = folder, name
        folder.entries[name] = node
        self._pending.append(Change([(folder, name, node, None)]))

    def remove(self, folder: Node, name: str) -> None:
        """An entry is gone."""
        node = folder.entries.pop(name)
        self._pending.append(Change([(folder, name, None, node)]))

    def rename(self, folder: Node, name: str, target: Node, new_name: str) -> None:
        """An entry moves, and may replace another."""
        node, before = folder.entries.pop(name), target.entries.get(new_name)
        target.entries[new_name] = node
        node.parent, node.name = target, new_name
        moved = [(target, new_name, node, before), (folder, name, None, node)]
        self._pending.append(Change(moved))

    def sync(self, node: Node) -> None:
        """What fsync promises of a file's bytes, or of a folder's entries."""
        if not node.is_folder:
            node.durable = node.durable if node.is_lost else bytes(node.content)
            return
        for change in [c for c in self._pending if any(e[0] is node for e in c.entries)]:
            change.apply()
            self._pending.remove(change)

    def settle(self) -> None:
        """All that was done so far is durable."""
        for change in self._pending:
            change.apply()
        self._pending.clear()
        for _, node in self.top.files():
            node.durable = bytes(node.content)

    def cut_power(self, random: Random) -> None:
        """Lose what need not be there any more, and make the real folder what is left."""
        share = random.choice((0.0, 0.5, 0.5, 1.0))
        is_ordered = random.random() < 0.5
        kept = [change for change in self._pending if random.random() < share]
        if is_ordered:  # a journal: nothing is there without what came before it
            kept = self._pending[: random.randint(0, len(self._pending))] if 0 < share < 1 else kept
        for change in kept:
            change.apply()
        self._pending.clear()
        self._survive(self.top, random, share)
        self._write_out()

    def _survive(self, folder: Node, random: Random, share: float) -> None:
        """The durable entries are what there is, each with one of the contents that are allowed."""
        folder.entries = dict(folder.durable_entries)
        for name, node in sorted(folder.entries.items()):
            node.parent, node.name = folder, name
            if node.is_folder:
                self._survive(node, random, share)
            elif bytes(node.content) != node.durable:
                node.durable = survivor(node.durable, bytes(node.content), random, share)
            node.content, node.is_lost = bytearray(node.durable), False

    def _write_out(self) -> None:
        for entry in os.scandir(self.root):
            shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)
        for path, node in self.top.files():
            real = f"{self.root}{path}"
            if node.is_folder:
                os.mkdir(real)
            else:
                with open(real, "xb") as file:
                    file.write(node.content)
        for path, node in self.top.files():
            os.utime(f"{self.root}{path}", (node.mtime, node.mtime))


def survivor(old: bytes, new: bytes, random: Random, share: float) -> bytes:
    """A content that a file may have after a power cut, of which only `old` was synced."""
    if share in (0.0, 1.0):
        return new if share else old
    kind = random.randrange(4)
    if kind == 0:
        return new[: random.randint(0, len(new))]
    if kind == 1:  # the length was written, the bytes were not
        return old[: len(new)].ljust(len(new), b"\0")
    if kind == 2:
        return random.choice((old, new))
    padded = old[: len(new)].ljust(len(new), b"\0")
    sectors = range(0, len(new), SECTOR)
    return b"".join(random.choice((padded, new))[at : at + SECTOR] for at in sectors)
