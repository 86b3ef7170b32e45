"""Checks of what is installed: Python, packages, compiler, kernels, extras."""

import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec

from app.cli.doctor.finding import Finding
from app.errors import SettingsError, installable
from app.kernel_cache import cache_folder, is_writable
from app.kernels import compiled

OLDEST_PYTHON = (3, 11)
COMPILERS = ("c++", "g++", "clang++")
INSTALL_COMPILER = "install one: apt-get install g++, dnf install gcc-c++, xcode-select --install"
NOT_FOR_USERS = "dev"


def installation_findings() -> Iterator[Finding]:
    """What is to be said of Python, the packages, the compiler, the kernels and the extras."""
    yield python_finding(sys.version_info[:2])
    yield packages_finding()
    yield compiler_finding()
    yield kernels_finding()
    yield from extras_findings()


def python_finding(version: tuple[int, ...]) -> Finding:
    """Whether this Python is new enough."""
    found = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    if version >= OLDEST_PYTHON:
        return Finding("python", "good", found)
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return Finding("python", "wrong", found, f"make the environment with Python {wanted} or newer")


def packages_finding() -> Finding:
    """Whether every package that labelserve itself needs is installed."""
    missing = _missing(_requirements()[""])
    if not missing:
        return Finding("packages", "good", f"labelserve {metadata.version('labelserve')}")
    mend = "pip install labelserve's folder or wheel again, without --no-deps"
    return Finding("packages", "wrong", f"not installed: {', '.join(missing)}", mend)


def compiler_finding() -> Finding:
    """Whether there is a C++ compiler where one is needed: LIBLINEAR is compiled by pip."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if find_spec("liblinear") is not None:
        return Finding("compiler", "good", f"{compiler or 'none'}; LIBLINEAR is compiled already")
    if compiler is not None:
        return Finding("compiler", "good", compiler)
    return Finding("compiler", "wrong", "no C++ compiler, which LIBLINEAR needs", INSTALL_COMPILER)


def kernels_finding() -> Finding:
    """Whether inner loops run compiled, and whether their machine code outlives the process."""
    try:
        is_compiled = compiled()
    except SettingsError as error:
        return Finding("kernels", "wrong", str(error), "unset LABELSERVE_KERNELS")
    if not is_compiled:
        found = "plain ones: predictions and training take several times as long"
        return Finding("kernels", "note", found, "unset LABELSERVE_KERNELS, and install numba")
    folder = cache_folder()
    if is_writable(folder):
        return Finding("kernels", "good", f"compiled; machine code is kept in {folder}")
    found = f"compiled, but {folder} cannot be written to keep machine code"
    mend = "set NUMBA_CACHE_DIR to a folder that can be written, or each start compiles anew"
    return Finding("kernels", "note", found, mend)


def extras_findings() -> Iterator[Finding]:
    """Which extras are installed, and how the others would be."""
    for extra, packages in _requirements().items():
        if extra in ("", NOT_FOR_USERS):
            continue
        if missing := _missing(packages):
            found = f"not installed: {', '.join(missing)}"
            mend = f"where it is wanted: {sys.executable} -m pip install {installable(extra)}"
            yield Finding(f"extra {extra}", "note", found, mend)
        else:
            yield Finding(f"extra {extra}", "good", "installed")


def _requirements() -> dict[str, list[str]]:
    """Extra → packages, as the installed metadata say; those of no extra are under an empty name.

    >>> "fastapi" in _requirements()[""]
    True
    """
    found: dict[str, list[str]] = {"": []}
    for line in metadata.requires("labelserve") or []:
        name, extra = re.match(r"[\w.-]+", line), re.search(r"""extra == ["']([\w-]+)""", line)
        if name is not None:
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return found


def _missing(packages: list[str]) -> list[str]:
    return [name for name in packages if not _is_installed(name)]


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
