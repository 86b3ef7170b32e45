"""Nodes: hosts of a cluster as namespaces, with addresses, disks and process numbers of their own.

Each has a root of its own (the machine's, read through an overlay, what is written goes to the
node's own tmpfs), /tmp on another tmpfs, and only /shared in common. A bridge joins them; no link
leads out of it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

from cluster.sandbox import HOME, MARK
from containers.engine.command import CommandError, run

ROOT = Path(__file__).parents[2]
BRIDGE = "cluster"
NAMES = ("n1", "n2", "login")
ADDRESSES = {name: f"10.77.0.{number}" for number, name in enumerate(NAMES, 1)}
SHARED = Path("/shared")
"""The same path on every node; nothing else is shared."""
BOOT = """
set -e
mount -t tmpfs -o mode=755 disk "$DISK"
mkdir "$DISK/written" "$DISK/work" "$DISK/root"
mount -t overlay -o "lowerdir=/,upperdir=$DISK/written,workdir=$DISK/work" root "$DISK/root"
cd "$DISK/root"
for folder in $MOUNTED; do mount --rbind "$folder" ".$folder"; done
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 run run
mkdir -p shared
mount --bind "$SHARED" shared
printf '%s\\n' "$HOSTS" > etc/hosts
hostname "$NAME"
ip link set lo up
echo booted
exec chroot . sh -c 'sleep infinity & wait'
"""

Env: TypeAlias = Mapping[str, str]
NOTHING: Env = {}


class Node:
    """A host; what runs on it ends with it."""

    def __init__(self, name: str, logs: Path) -> None:
        self.name, self.address, self._logs = name, ADDRESSES[name], logs
        self._log = (logs / f"{name}.txt").open("ab")
        self._holder = self._booted()
        self._first = children(self._holder.pid)[0]
        self._connect()

    @property
    def root(self) -> Path:
        """Its files, as the sandbox sees them."""
        return Path(f"/proc/{self._first}/root")

    def start(
        self,
        *words: str | Path,
        folder: Path = SHARED,
        output: IO[bytes] | None = None,
        env: Env = NOTHING,
    ) -> "subprocess.Popen[bytes]":
        """A program on this node."""
        spaces = ("--mount", "--net", "--uts", "--ipc", "--pid", "--root")
        enter = ("nsenter", "--target", str(self._first), *spaces, "env", "-C", str(folder))
        return subprocess.Popen(
            [*enter, *map(str, words)],
            env={**environment(), **env},
            stdin=subprocess.DEVNULL,
            stdout=output or self._log,
            stderr=subprocess.STDOUT,
        )

    def run(self, *words: str | Path, seconds: float = 300, env: Env = NOTHING) -> str:
        """What a program said, whose failure is an error."""
        said, code = self.tried(*words, seconds=seconds, env=env)
        if code:
            last = "\n".join(said.splitlines()[-12:])
            raise CommandError(
                f"{self.name}: {' '.join(map(str, words))}: exit code {code}\n{last}"
            )
        return said

    def tried(
        self, *words: str | Path, seconds: float = 300, env: Env = NOTHING
    ) -> tuple[str, int]:
        """What a program said, and its exit code."""
        with open(HOME / f"said-{self.name}", "w+b") as file:
            process = self.start(*words, output=file, env=env)
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                end(process)
                raise CommandError(f"{words[0]} on {self.name}: not done in {seconds} s") from None
            finally:
                file.seek(0)
                said = file.read()
                self._log.write(f"\n$ {' '.join(map(str, words))}\n".encode() + said)
                self._log.flush()
        return said.decode(errors="replace"), code

    def booted_again(self) -> "Node":
        """The node after it was switched off: a new one in its place."""
        return Node(self.name, self._logs)

    def cut(self) -> None:
        """Pull the cable: nothing comes or goes, and nobody is told."""
        run(["ip", "link", "set", self.name, "down"])

    def heal(self) -> None:
        """Put the cable back."""
        run(["ip", "link", "set", self.name, "up"])

    def die(self) -> None:
        """Switch it off: every process ends at once, its disks are gone, and nobody is told."""
        run(["ip", "link", "set", self.name, "down"])  # or the dying sockets would still say it
        os.kill(self._first, signal.SIGKILL)
        self._holder.wait()
        with suppress(CommandError):  # most often it went with its other end
            run(["ip", "link", "del", self.name])

    def _booted(self) -> "subprocess.Popen[bytes]":
        """The process that holds the namespaces, once all is mounted."""
        disk = HOME / self.name
        disk.mkdir(exist_ok=True)
        spaces = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child")
        settings = {
            "NAME": self.name,
            "DISK": str(disk),
            "SHARED": str(HOME / "shared"),
            "MOUNTED": " ".join(mounted_apart()),
            "HOSTS": "\n".join(
                ["127.0.0.1 localhost", *(f"{a} {n}" for n, a in ADDRESSES.items())]
            ),
        }
        holder = subprocess.Popen(
            ["unshare", *spaces, "sh", "-c", BOOT],
            env={**environment(), **settings},
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        if holder.stdout is None or holder.stdout.readline() != b"booted\n":
            raise CommandError(f"node {self.name} could not be made: the log says why")
        return holder

    def _connect(self) -> None:
        """A cable between the node and the bridge."""
        peer = ("peer", "name", "eth0", "netns", str(self._first))
        run(["ip", "link", "add", self.name, "type", "veth", *peer])
        run(["ip", "link", "set", self.name, "master", BRIDGE, "up"])
        within = ("nsenter", "--target", str(self._first), "--net", "ip")
        run([*within, "addr", "add", f"{self.address}/24", "dev", "eth0"])
        run([*within, "link", "set", "eth0", "up"])


@contextmanager
def joined(logs: Path) -> Iterator[dict[str, Node]]:
    """The three nodes on one bridge."""
    (HOME / "shared").mkdir()
    run(["mount", "-t", "tmpfs", "-o", "mode=1777", "shared", HOME / "shared"])
    run(["ip", "link", "add", BRIDGE, "type", "bridge"])
    run(["ip", "link", "set", BRIDGE, "up"])
    yield {name: Node(name, logs) for name in NAMES}  # the sandbox ends what is in it


def environment() -> dict[str, str]:
    """What programs on nodes are given: the programs of this Python, this tree, nothing else."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": "/root",
        "LANG": "C.UTF-8",
        MARK: os.environ.get(MARK, ""),
    }


def mounted_apart() -> list[str]:
    """Folders of this tree and this Python that are not on the machine's root."""
    folders = {ROOT, Path(sys.prefix), Path(sys.base_prefix)}
    device = os.stat("/").st_dev
    return sorted(str(folder) for folder in folders if os.stat(folder).st_dev != device)


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in text.split()]


def end(process: "subprocess.Popen[bytes]", signum: int = signal.SIGKILL) -> int:
    """End a program on a node, which is the child of what entered the node."""
    for child in children(process.pid) if process.poll() is None else []:
        os.kill(child, signum)
    return process.wait(60)
