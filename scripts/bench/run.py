"""`make bench`: every benchmark after the other, each a process and a section of its own.

--quick: a check of about a minute each, nothing written; --only NAME,NAME: just these.
Networks take an hour more, so they are run only by name: --only neural.
LABELSERVE_BENCH_DATA names the folder of the corpora (default ../shared/data).
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.debtags_model import MODELS
from bench.harness.environment import QUICK, ROOT, data_folder, kernel_cache
from bench.harness.peers_venv import ensure

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Step:
    """A script with its arguments; `is_quick` where it has a short version, or is short."""

    script: str
    arguments: tuple[str, ...] = ()
    is_quick: bool = True
    is_default: bool = True


STEPS = {
    "serve": Step("serving/run.py"),
    "vectorize": Step("vectorize.py"),
    "predict": Step("predict.py"),
    "start": Step("start.py"),
    "evaluations": Step("evaluations.py"),
    "train": Step("training/run.py"),
    "metrics": Step("metrics.py"),
    "evaluate": Step("evaluate.py"),
    "many-labels": Step("many_labels.py"),
    "label-names": Step("label_names.py"),
    "tuning": Step("decisions/run.py", ("speed",)),
    "decisions": Step("decisions/run.py", ("test", str(data_folder())), is_quick=False),
    "read": Step("read.py"),
    "page": Step("page.py"),
    "neural": Step("neural/run.py", is_quick=False, is_default=False),
    "summary": Step("summary.py", is_quick=False),
}


def main() -> int:
    """Run the benchmarks; 1 if any failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a check, nothing is written")
    parser.add_argument("--only", help=f"some of {', '.join(STEPS)}")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else default_steps(options.quick)
    if unknown := set(names) - set(STEPS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    if not data_folder().exists():
        print(f"no corpora in {data_folder()}: set LABELSERVE_BENCH_DATA", file=sys.stderr)
        return 2
    for peer, version in ensure().items():
        print(f"peer {peer}: {version}")
    if not options.only:
        shutil.rmtree(MODELS, ignore_errors=True)  # those of an older state of the code
    failed = [name for name in names if not run(name, options.quick)]
    print(f"failed: {', '.join(failed)}" if failed else "all benchmarks ran")
    return 1 if failed else 0


def default_steps(quick: bool) -> list[str]:
    """What is run where nothing is named."""
    return [
        name for name, step in STEPS.items() if step.is_default and (step.is_quick or not quick)
    ]


def run(name: str, quick: bool) -> bool:
    """Whether one benchmark ran to its end."""
    step, start = STEPS[name], time.monotonic()
    print(f"\n=== {name}", flush=True)
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NUMBA_CACHE_DIR": kernel_cache(),
        **({QUICK: "1"} if quick else {}),
    }
    command = [sys.executable, str(FOLDER / step.script), *step.arguments]
    has_run = subprocess.run(command, cwd=ROOT, env=env, check=False).returncode == 0
    print(f"=== {name}: {(time.monotonic() - start) / 60:.1f} minutes", flush=True)
    return has_run


if __name__ == "__main__":
    sys.exit(main())
