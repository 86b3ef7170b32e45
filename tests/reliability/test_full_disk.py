"""A data folder without room: uploads are refused, all else goes on, no process dies."""

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

KIBIBYTE = 1 << 10
DISK_BYTES = 16 << 20
NDJSON = {"content-type": "application/x-ndjson"}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
SHA256 = hashlib.sha256(LINE * 10_000).hexdigest()
OWN_MOUNTS = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
MOUNT = f'mount -t tmpfs -o size={DISK_BYTES} none "$0" && exec "$@"'

Mounted = Callable[[int], "tuple[Server, Path]"]


def can_mount(folder: Path) -> bool:
    command = [*OWN_MOUNTS, "sh", "-c", MOUNT, str(folder), "true"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.fixture
def mounted(started: Started, tmp_path: Path) -> Mounted:
    """`mounted(2)`: a server of two workers and its data folder, a small file system of its own.

    Only the server has it mounted, so it is gone with the server; it is reached through the
    server's view of the file system.
    """
    folder = tmp_path / "disk"
    folder.mkdir()
    if not (can_mount(folder) or os.environ.get("LABELSERVE_TEST_ALL")):
        pytest.skip("no file system can be mounted here")

    def one(workers: int) -> tuple[Server, Path]:
        within = [*OWN_MOUNTS, "sh", "-c", MOUNT, str(folder)]
        server = started(
            within=within,
            data_dir=folder,
            workers=workers,
            drain_seconds=0,
            max_disk_percent=100,  # what is tested is the disk's own word
        )
        return server, Path(f"/proc/{server.process.pid}/root{folder}")

    return one


def fill(disk: Path) -> Path:
    """A file that leaves no byte free."""
    filling = disk / "filling"
    with filling.open("wb", buffering=0) as file:
        size = KIBIBYTE * KIBIBYTE
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2
    return filling


def use_every_route(server: Server) -> None:
    """Requests of many kinds, each on a connection of its own: every worker counts new series."""
    with server.client(limits=httpx.Limits(max_keepalive_connections=0)) as client:
        for _ in range(20):
            assert client.post("/predict", json={"documents": ["a", "b"]}).status_code == 200
            for path in ("/health/live", "/health/ready", "/models", "/models/tiny", "/v2"):
                assert client.get(path).status_code == 200
            for method in ("GET", "PUT", "PATCH", "DELETE", "OPTIONS"):
                assert 400 <= client.request(method, "/predict", content=b"{").status_code < 500


def written_maps(pid: int) -> list[str]:
    """Files that a process has mapped so that what it writes to memory is written to them."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    shared = [line.split(maxsplit=5) for line in maps if line.split()[1].startswith("rw-s")]
    in_memory = ("/dev/", "/memfd:", "/SYSV", "anon_inode:")
    return [path for *_, path in shared if not path.startswith(in_memory)]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_full_data_folder_refuses_uploads_and_kills_no_worker(
    mounted: Mounted, workers: int
) -> None:
    server, disk = mounted(workers)
    before = server.workers
    filling = fill(disk)
    with server.client() as client:
        for _ in range(3):
            use_every_route(server)
            answer = client.post("/evaluate", content=LINE * 10_000, headers=NDJSON)
            assert (answer.status_code, answer.json()["type"][-12:]) == (507, "storage-full")
        for path in ("/evaluations", f"/uploads/{SHA256}"):
            method = "POST" if path == "/evaluations" else "PUT"
            answer = client.request(method, path, content=LINE * 10_000, headers=NDJSON)
            assert (answer.status_code, answer.json()["type"][-12:]) == (507, "storage-full")
        assert server.workers == before
        assert [written_maps(pid) for pid in server.workers] == [[]] * len(before)
        wait_until(lambda: server.metric("labelserve_rejected_total") == 5)
        filling.unlink()
        answer = client.post("/evaluate", content=LINE * 10_000, headers=NDJSON)
        assert answer.status_code == 200, answer.text
        assert client.get("/evaluations").json()["evaluations"] == []
        assert client.head(f"/uploads/{SHA256}").status_code == 404
        asked = client.post("/evaluations", content=LINE, headers=NDJSON)
        assert asked.status_code == 202
        path = asked.headers["location"]
        wait_until(lambda: client.get(path).json()["state"] == "done")
    assert [line for line in lines(server.log) if "died" in line.get("message", "")] == []
    wait_until(lambda: not [name for name in os.listdir(disk / "spool") if "-" in name])


def test_wherever_an_evaluation_runs_out_of_room_it_is_507_or_done(mounted: Mounted) -> None:
    """A larger room each time: not for the upload, not for scores, not for the report, for all."""
    server, disk = mounted(2)
    filling, statuses = fill(disk), []
    with server.client() as client:
        for _ in range(60):
            answer = client.post("/evaluate?bootstrap=10", content=LINE * 200, headers=NDJSON)
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                break
            assert answer.json()["type"][-12:] == "storage-full", (statuses, answer.text)
            os.truncate(filling, filling.stat().st_size - 4 * KIBIBYTE)
    assert len(statuses) > 4
    assert (set(statuses[:-1]), statuses[-1]) == ({507}, 200)
