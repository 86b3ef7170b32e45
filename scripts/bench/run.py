"""`make bench`: every benchmark after the other, each a process and a section of its own.

--quick: a check of about a minute each, nothing written; --only NAME: just that one.
LABELSERVE_BENCH_DATA names the folder of the corpora (default ../shared/data).
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import data_folder
from bench.peers_venv import ROOT, ensure

FOLDER = Path(__file__).parent
ORDER = [
    "read",
    "vectorize",
    "train",
    "predict",
    "start",
    "decisions",
    "metrics",
    "evaluate",
    "serve",
    "neural",
]


def main() -> int:
    """Run the benchmarks; 1 if any failed."""
    known = [name for name in ORDER if (FOLDER / f"{name}.py").exists()]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a check, nothing is written")
    parser.add_argument("--only", choices=known, help="one benchmark")
    options = parser.parse_args()
    if not data_folder().exists():
        print(f"no corpora in {data_folder()}: set LABELSERVE_BENCH_DATA", file=sys.stderr)
        return 2
    for peer, version in ensure().items():
        print(f"peer {peer}: {version}")
    names = [options.only] if options.only else known
    failed = [name for name in names if not run(name, options.quick)]
    print(f"failed: {', '.join(failed)}" if failed else "all benchmarks ran")
    return 1 if failed else 0


def run(name: str, quick: bool) -> bool:
    """Whether one benchmark ran to its end."""
    script = FOLDER / f"{name}.py"
    takes_quick = "--quick" in script.read_text() or "is_quick" in script.read_text()
    command = [sys.executable, str(script), *(["--quick"] if quick and takes_quick else [])]
    print(f"\n=== {name}", flush=True)
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba")),
    }
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
