"""The peers' own venv, .venv-peers: built once; what cannot be installed is said, not hidden."""

import json
import subprocess
import sys
from pathlib import Path

VENV = Path(__file__).parents[3] / ".venv-peers"
PYTHON = VENV / "bin" / "python"
FIXED = ("numpy==1.26.4", "scipy==1.13.1")
"""What libpecos can still be loaded with; every other peer accepts it too."""
BASE = (*FIXED, "scikit-learn", "pandas", "pybind11", "pyyaml", "tqdm", "numba", "psutil")
PEERS = {
    "libpecos": ("--no-deps", "libpecos"),
    "libmultilabel": ("--no-deps", "libmultilabel"),
    "liblinear-multicore": ("liblinear-multicore",),
    "sparsekmeans": ("sparsekmeans",),
    "omikuji": ("omikuji",),
    "napkinxc": ("napkinxc",),
    "fasttext": ("fasttext",),
    "litserve": ("litserve",),
    "mlserver": ("mlserver",),
    "bentoml": ("bentoml",),
}
VERSIONS = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def ensure() -> dict[str, str]:
    """Each peer's version, or `not installed: why`; whatever is missing is installed first."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        _pip("wheel", "setuptools<80", *BASE)
    failures = {}
    for name in set(PEERS) - set(versions()):
        problem = _pip(*PEERS[name], *FIXED)
        if problem:
            failures[name] = f"not installed: {problem}"
    return {"scikit-learn": "?", **dict.fromkeys(PEERS, "not installed"), **versions(), **failures}


def versions() -> dict[str, str]:
    """The versions of the peers that are installed."""
    command = [str(PYTHON), "-c", VERSIONS, "scikit-learn", *PEERS]
    found: dict[str, str] = json.loads(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    return found


def _pip(*arguments: str) -> str:
    """Install, and say in a line why it failed; empty where it did not."""
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return errors[-1][:200] if done.returncode and errors else ""


if __name__ == "__main__":
    for peer, state in ensure().items():
        print(f"{peer:20} {state}")
