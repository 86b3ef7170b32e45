"""Replays the Dockerfile into an empty folder: what it copies, sets and runs, without an engine.

Only three steps are done in a cheaper way: system packages are taken as installed, `pip install`
borrows this environment's packages, and files keep their times, so that their kernels' machine code
can be borrowed too. Everything else is what the file says, up to the target `service`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

from app.kernel_cache import cache_folder

ROOT = Path(__file__).parents[2]
TARGET = "service"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@dataclass
class Image:
    """What the last stage leaves: a tree below `root`, and how it is to be run."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = ""
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)

    def inside(self, path: str) -> Path:
        """Where a path of the image lies on this machine."""
        return self.root / str(Path(self.workdir) / path).lstrip("/")

    def environment(self, **more: str) -> dict[str, str]:
        """The image's variables, its own paths put below `root`."""
        values = {"HOME": "/nonexistent", "TMPDIR": "/tmp", **self.env}  # noqa: S108
        ours = {name: ":".join(map(self._here, value.split(":"))) for name, value in values.items()}
        return {**ours, **more}

    def _here(self, value: str) -> str:
        first = Path(value).parts[1:2]
        is_ours = value.startswith("/") and first and (self.root / first[0]).exists()
        return f"{self.root}{value}" if is_ours else value


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Every instruction with its arguments on one line."""
    lines = [line for line in dockerfile.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = [line.partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word, " ".join(rest.split())) for word, _, rest in pairs]


def replay(folder: Path) -> Image:
    """The image of the target `service`, built below the folder; all stages at the same path."""
    stages: dict[str, Image] = {}
    image, name = Image(folder / "image"), ""
    for word, rest in instructions((ROOT / "Dockerfile").read_text()):
        if word != "FROM":
            _follow(image, word, rest, stages)
        elif name == TARGET:
            break
        else:
            if image.root.exists():
                stages[name] = replace(image, root=image.root.rename(folder / f"stage-{name}"))
            origin, _, name = rest.partition(" AS ")
            image = _begun(folder / "image", stages.get(origin))
    return image


def _begun(root: Path, origin: Image | None) -> Image:
    """A stage on an empty base, or on another stage with all that it has."""
    if origin is not None:
        shutil.copytree(origin.root, root, symlinks=True)
        return replace(origin, root=root, env=dict(origin.env))
    (root / "tmp").mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    return Image(root)


def _follow(image: Image, word: str, rest: str, stages: dict[str, Image]) -> None:
    if word == "COPY":
        _copy(image, rest.split(), stages)
    elif word == "RUN":
        _run(image, rest)
    elif word == "ENV":
        pairs = (pair.partition("=") for pair in shlex.split(rest))
        image.env |= {k: v.replace("$PATH", os.environ["PATH"]) for k, _, v in pairs}
    elif word == "WORKDIR":
        image.workdir = rest
        image.inside("").mkdir(parents=True, exist_ok=True)
    elif word == "USER":
        image.user = rest
    elif word == "ENTRYPOINT":
        image.entrypoint = _exec_form(rest)
    elif word == "CMD":
        image.command = _exec_form(rest)
    elif word == "HEALTHCHECK":
        image.healthcheck = _exec_form(rest.partition("CMD ")[2])
    elif word not in ("ARG", "EXPOSE", "LABEL"):
        raise AssertionError(f"the replay knows no {word}")


def _exec_form(text: str) -> list[str]:
    words: list[str] = json.loads(text)
    return words


def _copy(image: Image, words: list[str], stages: dict[str, Image]) -> None:
    source = ROOT
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, target = words
    for name in names:
        origin = source / name.lstrip("/")
        is_folder = target.endswith("/")
        goal = image.inside(target) / (origin.name if is_folder else "")
        if origin.is_file():
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(origin, goal)
        elif source == ROOT:
            _copy_from_context(origin, goal)
        else:
            shutil.copytree(origin, goal, symlinks=True, dirs_exist_ok=True)


def _copy_from_context(origin: Path, goal: Path) -> None:
    """Copy what .dockerignore lets through."""
    for path in sorted(origin.rglob("*")):
        if path.is_file() and is_in_context(str(path.relative_to(ROOT))):
            target = goal / path.relative_to(origin)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


def is_in_context(path: str) -> bool:
    """Whether .dockerignore lets a file through: the last rule that matches decides."""
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    parts = path.split("/")
    heads = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    included = True
    for rule in rules:
        if not rule or rule.startswith("#"):
            continue
        pattern = rule.lstrip("!")
        tails = heads if not pattern.startswith("**/") else parts
        if any(fnmatch(head, pattern.removeprefix("**/")) for head in tails):
            included = rule.startswith("!")
    return included


def _run(image: Image, command: str) -> None:
    if command.startswith("apt-get") or " touch " in command:
        return
    if command.startswith("python -m venv"):
        target = image.inside(command.split()[-1])
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", target], check=True)
    elif command.startswith("/installer/bin/pip"):
        _install(image)
    elif command.startswith("install -d"):
        for path in re.findall(r" (/\S+)", command):
            image.inside(path).mkdir(parents=True)
            image.inside(path).chmod(0o777)  # the file names an owner that is not on this machine
    else:
        _share_kernels(image, into=True)
        words = ["/bin/sh", "-c", command]
        subprocess.run(words, check=True, cwd=image.inside(""), env=image.environment())
        _share_kernels(image, into=False)


def _install(image: Image) -> None:
    """This environment's packages, and code and console scripts as an editable install has them."""
    (site,) = image.inside("/venv").glob("lib/python*/site-packages")
    borrowed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    ours = os.path.relpath(image.inside(""), site)
    (site / "labelserve.pth").write_text("\n".join([ours, *dict.fromkeys(borrowed)]) + "\n")
    project = tomllib.loads(image.inside("pyproject.toml").read_text())["project"]
    for name, place in project["scripts"].items():
        module, _, function = place.partition(":")
        script = image.inside("/venv/bin") / name
        lines = (f"#!{image.inside('/venv/bin/python')}", f"from {module} import {function}")
        script.write_text("\n".join([*lines, 'if __name__ == "__main__":', f"    {function}()\n"]))
        script.chmod(0o755)


def _share_kernels(image: Image, *, into: bool) -> None:
    """Copy machine code into the image, or out of it, so that nothing is compiled twice here."""
    kernels, copied = ROOT / "app" / "kernels", image.inside("app/kernels")
    if not copied.exists() or "NUMBA_CACHE_DIR" not in image.env:
        return
    place = UserProvidedCacheLocator.get_suitable_cache_subpath
    there = image.inside(image.env["NUMBA_CACHE_DIR"])
    for folder in sorted({path.parent.relative_to(kernels) for path in kernels.rglob("*.py")}):
        ours = cache_folder() / place(str(kernels / folder / "any.py"))
        theirs = there / place(str(copied / folder / "any.py"))
        _copy_newer(*((ours, theirs) if into else (theirs, ours)))


def _copy_newer(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*"):
        there = target / path.name
        if not there.exists() or there.stat().st_mtime < path.stat().st_mtime:
            shutil.copy2(path, there)


def another_user(image: Image) -> list[str]:
    """What to put before a command so that another user runs it, to whom the tree is read-only.

    Where this process may not become somebody else, the tree is closed to its own user instead.
    """
    python = str(image.inside("/venv/bin/python"))
    if os.geteuid() == 0 and shutil.which("setpriv"):
        ran = subprocess.run([*NOBODY, python, "-c", ""], check=False)
        if ran.returncode == 0:
            return NOBODY
    for path in sorted(image.root.rglob("*")):
        if not path.is_symlink() and not path.is_relative_to(image.root / "tmp"):
            path.chmod(path.stat().st_mode & ~0o222)
    return []
