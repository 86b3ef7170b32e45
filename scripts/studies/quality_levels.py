"""What each `--quality`, and `tune`, brings on corpora that have a test set.

    python scripts/studies/quality_levels.py DATA_DIR [--levels fast,balanced,best,tune]
        [--only reuters,ohsumed] [--seeds 3] [--budget 10m] [--out levels.jsonl]

Each cell is the command itself in a process of its own (`labelserve train … --test …`, one thread),
whose settings are chosen inside the training data. Cells that the file has are not run again, so
that an interrupted study goes on. The table has means over seeds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

CORPORA = ("reuters", "ohsumed", "go_emotions", "debtags", "arxiv-cs60k")
LEVELS = ("fast", "balanced", "best", "tune")


def run(folder: Path, level: str, seed: int, budget: str) -> dict[str, Any]:
    """One cell: train, test, and what it took."""
    with tempfile.TemporaryDirectory() as store:
        out = Path(store) / "result.json"
        how = ["tune", "--budget", budget] if level == "tune" else ["train", "--quality", level]
        command = [
            *(sys.executable, "-m", "labelserve", how[0], str(folder / "train.txt.gz"), *how[1:]),
            *("--model", "m", "--test", str(folder / "test.txt.gz"), "--seed", str(seed)),
            *("--jobs", "1", "--models-dir", store, "--json", str(out)),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(command)}")
        result = json.loads(out.read_bytes())
    return {
        "corpus": folder.name,
        "level": level,
        "seed": seed,
        "micro": result["report"]["decisions"]["micro"]["f1"],
        "macro": result["report"]["decisions"]["macro_in_test"]["f1"],
        "promise": _promise(result["figures"]),
        "winner": result["figures"].get("search", {}).get("winner", {}).get("name", ""),
        "cpu_s": used.ru_utime + used.ru_stime,
        "mb": used.ru_maxrss / 1024,
        "model_mb": result["figures"].get("size", {}).get("bytes", 0) / 1e6,
    }


def _promise(figures: dict[str, Any]) -> float:
    promise = figures.get("search", {}).get("promise", figures["held_out"])["micro_f1"]
    return float(promise)


def table(cells: list[dict[str, Any]]) -> str:
    """Means over seeds: micro / macro, what was promised, CPU seconds."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell["corpus"], cell["level"]].append(cell)
    lines = [
        "| corpus | level | seeds | micro-F1 | macro-F1 | promised micro-F1 | CPU s | chosen |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (corpus, level), own in groups.items():
        means = {
            name: np.mean([c[name] for c in own]) for name in ("micro", "macro", "promise", "cpu_s")
        }
        spread = np.ptp([c["micro"] for c in own])
        chosen = "; ".join(sorted({c["winner"] for c in own if c["winner"]})) or "–"
        lines.append(
            f"| {corpus} | {level} | {len(own)} | {means['micro']:.4f} (± {spread / 2:.4f}) | "
            f"{means['macro']:.4f} | {means['promise']:.4f} | {means['cpu_s']:.1f} | {chosen} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--levels", default=",".join(LEVELS[:3]))
    arguments.add_argument("--only", default=",".join(CORPORA))
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--budget", default="10m")
    arguments.add_argument("--out", type=Path, default=Path("quality_levels.jsonl"))
    given = arguments.parse_args()
    known = [json.loads(line) for line in given.out.open()] if given.out.exists() else []
    done = {(cell["corpus"], cell["level"], cell["seed"]) for cell in known}
    for level in given.levels.split(","):
        for seed in range(given.seeds):
            for corpus in given.only.split(","):
                if (corpus, level, seed) in done:
                    continue
                known.append(run(given.data / corpus, level, seed, given.budget))
                print(known[-1], flush=True)
                with given.out.open("a") as file:
                    file.write(json.dumps(known[-1]) + "\n")
    print(table(known))


if __name__ == "__main__":
    main()
