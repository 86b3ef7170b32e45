"""deploy/systemd/labelserve.service: what systemd itself says of it, and what the service needs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.server.http_server import MAX_GRACE_SECONDS
from app.settings import Settings

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "systemd" / "labelserve.service"
MOST_EXPOSED = 2.5
"""Of 10, in the words of `systemd-analyze security`."""

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


def values(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


def analyzed(folder: Path, *command: str) -> str:
    """What systemd-analyze says of the unit, with a Python that is there; it has no complaint."""
    text = UNIT.read_text().replace("/opt/labelserve/.venv/bin/labelserve", sys.executable)
    (folder / UNIT.name).write_text(text)
    whole = ["systemd-analyze", *command, str(folder / UNIT.name)]
    done = subprocess.run(whole, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@needs_systemd
def test_systemd_accepts_every_line(tmp_path: Path) -> None:
    analyzed(tmp_path, "verify", "--man=no")


@needs_systemd
def test_systemd_calls_the_service_little_exposed(tmp_path: Path) -> None:
    said = analyzed(tmp_path, "security", "--offline=true", "--no-pager")
    exposure = re.search(r"Overall exposure level for labelserve.service: ([\d.]+)", said)
    assert exposure
    assert float(exposure[1]) <= MOST_EXPOSED


def test_the_service_has_the_time_to_end_that_its_settings_promise() -> None:
    given = dict(pair.split("=") for pair in values("Environment") if "LABELSERVE_" in pair)
    settings = Settings.from_environment(given)
    longest = max(settings.request_seconds, MAX_GRACE_SECONDS)
    assert float(values("TimeoutStopSec")[0]) > settings.drain_seconds + longest
    assert values("KillMode") == ["mixed"]
    assert values("Restart") == ["always"]


def test_what_the_service_writes_lies_where_it_may_write() -> None:
    below = [f"/var/cache/{name}" for name in values("CacheDirectory")[0].split()]
    below += [f"/var/lib/{name}" for name in values("StateDirectory")[0].split()]
    given = dict(pair.split("=") for pair in values("Environment"))
    assert {given["LABELSERVE_DATA_DIR"], given["NUMBA_CACHE_DIR"]} <= set(below)
    assert values("ExecStart")[0].endswith("/bin/labelserve serve")
