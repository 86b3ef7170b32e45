"""Run the canaries with the newest packages, whatever bounds pyproject.toml sets.

    python scripts/maintenance/newest.py VENV

A canary is a test that names what changed in a package whose private parts are used. The packages
of the base install and of the tests go into VENV (made where it is missing) without versions, the
project itself is not installed. Exit 1 if a canary failed; pytest lists those.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCED = ("uvicorn", "httptools", "uvloop", "numba", "llvmlite", "prometheus_client", "numpy")


def main(venv: Path) -> int:
    """pytest's exit code."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    newest = ["install", "--quiet", "--upgrade", "--upgrade-strategy", "eager"]
    subprocess.run([*pip, *newest, *unbounded()], check=True)
    print("the canaries run with:", ", ".join(installed(pip)), flush=True)
    canaries = ["-m", "pytest", "-m", "canary", "tests/canaries"]
    return subprocess.run([str(python), *canaries], cwd=ROOT, check=False).returncode


def unbounded() -> list[str]:
    """What the base install and the tests need, without any version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = [re.split(r"[<>=!~ ;]", requirement)[0] for requirement in wanted]
    return [name for name in names if not name.startswith(project["name"])]


def installed(pip: list[str]) -> list[str]:
    """The versions of the packages that canaries watch."""
    frozen = subprocess.run([*pip, "freeze"], capture_output=True, text=True, check=True).stdout
    lines = [line for line in frozen.splitlines() if line.partition("==")[0] in FENCED]
    return [line.replace("==", " ") for line in lines]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} VENV")
    sys.exit(main(Path(sys.argv[1])))
