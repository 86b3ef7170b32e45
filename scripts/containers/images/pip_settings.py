"""The machine's own pip settings, used inside builds too: its index, its certificates."""

import re
import sys
from pathlib import Path

from containers.engine.command import CommandError, run

LINE = re.compile(r"^(?P<section>[^.]*)\.(?P<name>[\w-]+)='(?P<value>.*)'$")
# What the build itself decides, and what names this machine's own folders.
LEFT_OUT = {"require-virtualenv", "cache-dir", "target", "prefix", "user", "no-index"}


def pip_mounts(folder: Path) -> list[str]:
    """Options of `podman build`: a pip.conf of this machine's settings and the files they name."""
    settings = pip_settings()
    if not settings:
        return []
    file = folder / "pip.conf"
    lines = [f"{name} = {value}" for name, value in settings.items()]
    file.write_text("\n".join(["[global]", *lines]) + "\n")
    mounts = {path: path for path in named_files(settings)} | {str(file): "/etc/pip.conf"}
    return [f"--volume={here}:{there}:ro" for here, there in mounts.items()]


def pip_settings() -> dict[str, str]:
    """Every setting that pip has here, from its files and from the environment."""
    try:
        lines = run([sys.executable, "-m", "pip", "config", "list"]).splitlines()
    except CommandError:  # no pip beside this Python: nothing to take over
        return {}
    found = [match for match in map(LINE.match, lines) if match]
    found.sort(key=lambda match: match["section"] == ":env:")  # the environment has the last word
    return {m["name"]: m["value"] for m in found if m["name"] not in LEFT_OUT}


def named_files(settings: dict[str, str]) -> list[str]:
    """Files and folders of this machine that the settings name, as paths or file: addresses.

    An index has its files beside it (`simple/` and `files/`), so its parent is taken.
    """
    words = [word for value in settings.values() for word in value.split()]
    paths = [Path(word.removeprefix("file://")) for word in words]
    tops = [path.parent if path.name == "simple" else path for path in paths]
    return sorted({str(path) for path in tops if path.is_absolute() and path.exists()})
