"""The image, replayed into an empty folder and run by another user from a read-only tree."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from bench.harness.processes import free_ports
from bench.harness.server_process import ServerProcess

from tests.deploy.replay import ROOT, Image, another_user, is_in_context, replay

STATS = """
import importlib, app.kernels as k
k.warm()
modules = [importlib.import_module(f"app.kernels.{name}") for name in k.KERNELS]
stats = [v.stats[1:] for m in modules for v in vars(m).values() if hasattr(v, "stats")]
print(*(sum(sum(count.values()) for count in column) for column in zip(*stats)))
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A new folder that every user can reach."""
    made = Path(tempfile.mkdtemp(prefix="labelserve-image-"))
    made.chmod(0o755)
    yield made
    for path in [made, *made.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def image(folder: Path, tiny_models: Path) -> Image:
    built = replay(folder)
    shutil.copytree(tiny_models, built.inside("/models"), dirs_exist_ok=True)
    built.inside("/models").chmod(0o755)
    return built


@pytest.fixture(scope="module")
def key(image: Image) -> str:
    """The secret that docker-compose's `keys` service makes at the first start."""
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["keys"]
    words = [*service["entrypoint"], *service["command"]]
    command = [word.replace("$$", "$") for word in words]
    options: dict[str, Any] = {"cwd": image.inside(""), "env": image.environment()}
    first = subprocess.run(command, check=True, capture_output=True, **options)
    second = subprocess.run(command, check=True, capture_output=True, **options)
    assert second.stdout == b""
    image.inside("/keys/keys.json").chmod(0o644)  # here it is not the reader's own file
    return first.stdout.decode().split()[-1]


@pytest.fixture(scope="module")
def service(image: Image, key: str, folder: Path) -> Iterator[ServerProcess]:
    """ENTRYPOINT and CMD, as another user; only address, ports and drain differ from the image."""
    port, metrics = free_ports(2)
    environment = image.environment(
        LABELSERVE_HOST="127.0.0.1",
        LABELSERVE_PORT=str(port),
        LABELSERVE_METRICS_PORT=str(metrics),
        LABELSERVE_DRAIN_SECONDS="0.2",
    )
    program = [str(image.inside("/venv/bin") / image.entrypoint[0]), *image.entrypoint[1:]]
    process = ServerProcess(
        [*another_user(image), *program, *image.command],
        port,
        "/health/ready",
        folder / "service.log",
        cwd=image.inside(""),
        env=environment,
    )
    process.start()
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.end()


def ask(port: int, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def files(image: Image) -> dict[str, int]:
    return {
        str(path): path.stat().st_mtime_ns
        for path in image.root.rglob("*")
        if path.is_file() and not path.is_relative_to(image.root / "tmp")
    }


def test_the_image_holds_the_program_and_nothing_else(image: Image) -> None:
    assert {path.name for path in image.root.iterdir()} == {"app", "keys", "models", "tmp", "venv"}
    inside = {path.name for path in image.inside("").iterdir()}
    installed_from = {"pyproject.toml", "constraints.txt", "README.md"}
    assert inside <= {"app", "labelserve", "scripts", "kernel-cache", "sbom.json", *installed_from}
    assert is_in_context("scripts/train.py")
    for kept_out in (".git/config", "models/demo/current", "tests/conftest.py", ".env"):
        assert not is_in_context(kept_out)
    assert image.user.split(":")[0] not in ("", "0", "root")
    assert (image.entrypoint, image.command) == (["labelserve"], ["serve"])


def test_it_serves_as_another_user_from_a_read_only_tree(
    image: Image, service: ServerProcess, key: str
) -> None:
    before = files(image)
    body = {"documents": ["my invoice was charged twice, and the parcel is late"], "top_k": 2}
    assert ask(service.port, "POST", "/predict", body)[0] == 401
    status, content = ask(service.port, "POST", "/predict", body, key)
    assert status == 200
    labels = json.loads(content)["predictions"][0]["labels"]
    assert {label["label"] for label in labels} == {"billing", "shipping"}
    assert files(image) == before
    assert service.running is not None
    if os.geteuid() == 0:
        assert os.stat(f"/proc/{service.running.pid}").st_uid != 0


def test_the_health_check_of_the_image_passes(image: Image, service: ServerProcess) -> None:
    environment = image.environment(LABELSERVE_PORT=str(service.port))
    check = [str(image.inside("/venv/bin/python")), *image.healthcheck[1:]]
    assert subprocess.run(check, env=environment, check=False).returncode == 0
    nowhere = image.environment(LABELSERVE_PORT="9")
    ran = subprocess.run(check, env=nowhere, check=False, capture_output=True)
    assert ran.returncode != 0


def test_the_kernels_come_compiled_with_the_image(image: Image, service: ServerProcess) -> None:
    command = [*another_user(image), str(image.inside("/venv/bin/python")), "-c", STATS]
    options: dict[str, Any] = {"cwd": image.inside(""), "env": image.environment()}
    printed = subprocess.run(command, check=True, capture_output=True, **options).stdout
    hits, misses = map(int, printed.split()[-2:])
    assert hits > 0
    assert misses == 0


def test_it_ends_cleanly_when_told(service: ServerProcess) -> None:
    assert service.send(signal.SIGTERM) == 0
