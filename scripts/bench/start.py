"""Starting: time and memory of `import app.main`, and of loading a model after verification."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.debtags_model import MODELS, prepare
from bench.harness.environment import ROOT, is_quick, machine, program_environment
from bench.harness.sections import keep_figures, write_section

IMPORT = """
import json, sys, time
start, cpu = time.perf_counter(), time.process_time()
import app.main
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
heavy = [name for name in ("torch", "sklearn", "numba") if name in sys.modules]
with open("/proc/self/status") as file:
    memory = next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
print(json.dumps({"wall": seconds, "cpu": cpu, "peak_mb": memory, "heavy": heavy}))
"""
LOAD = """
import json, sys, time
from pathlib import Path
from app.artifacts.store import Store
from app.classifier import Classifier
import app.learners.one_vs_rest, app.vectorizers.tfidf, app.decisions.decision
store = Store(Path(sys.argv[1]))
start = time.perf_counter()
artifact = store.load(*store.resolve("debtags"))
verified = time.perf_counter()
classifier = Classifier.from_state(artifact.state)
loaded = time.perf_counter()
classifier.scores(["a text to begin with"])
print(json.dumps({"verify": verified - start, "load": loaded - verified,
                  "first": time.perf_counter() - loaded}))
"""


def main() -> None:
    """Measure, print and write the section `starting`."""
    prepare()
    turns = 2 if is_quick() else 7
    imports = [_run(IMPORT) for _ in range(turns)]
    loads = [_run(LOAD, str(MODELS)) for _ in range(turns)]
    text = section(imports, loads, turns)
    print(text)
    write_section("starting", text)
    keep_figures("starting", {"load_ms": _median(loads, "load") * 1e3, "model_mb": model_mb()})


def section(imports: list[dict[str, float]], loads: list[dict[str, float]], turns: int) -> str:
    """The section in Markdown."""
    return "\n".join(
        [
            "## Starting",
            "",
            f"Medians of {turns} fresh processes. Loading is what comes after every file has been "
            "verified by its SHA-256; the first answer also loads the compiled kernels from their "
            "cache, once a process.",
            "",
            "| what | value |",
            "|---|---|",
            f"| `import app.main`, wall / CPU | {_median(imports, 'wall') * 1e3:.0f} / "
            f"{_median(imports, 'cpu') * 1e3:.0f} ms |",
            f"| memory after it (peak) | {_median(imports, 'peak_mb'):.0f} MB |",
            f"| of torch, sklearn, numba it imports | {imports[0]['heavy'] or 'none'} |",
            f"| debtags model on disk | {model_mb():.1f} MB |",
            f"| verify it | {_median(loads, 'verify') * 1e3:.1f} ms |",
            f"| load it after that | {_median(loads, 'load') * 1e3:.1f} ms |",
            f"| first answer | {_median(loads, 'first') * 1e3:.0f} ms |",
            "",
            f"{machine()}. Reproduce: `.venv/bin/python scripts/bench/run.py --only start`.",
        ]
    )


def model_mb() -> float:
    """The size of a version of the model, in millions of bytes."""
    size = sum(f.stat().st_size for f in (MODELS / "debtags").rglob("*") if f.is_file())
    return size / len(list((MODELS / "debtags").glob("*/manifest.json"))) / 1e6


def _run(program: str, *arguments: str) -> dict[str, float]:
    command = [sys.executable, "-c", program, *arguments]
    env = program_environment("labelserve")
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT, env=env)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _median(turns: list[dict[str, float]], figure: str) -> float:
    return statistics.median(turn[figure] for turn in turns)


if __name__ == "__main__":
    main()
