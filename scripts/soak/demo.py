"""The demo corpus and models of the long runs, made by the product's own commands."""

import json
import subprocess
import sys
from pathlib import Path

from bench.harness.environment import ROOT

from app.artifacts.store import Store

TEXT = "the invoice was charged twice, please refund the payment"


def demo_model(folder: Path) -> Path:
    """A models folder with two versions of the demo model that score differently."""
    models = folder / "models"
    _run("make_demo.py", str(folder / "demo"))
    for cost in ("1", "8"):
        data = f"{folder}/demo/train.jsonl"
        _run(
            "train.py",
            data,
            "--model=demo",
            f"--models-dir={models}",
            f"--liblinear=-s 1 -c {cost}",
        )
    return models


def labelled(n_bytes: int, folder: Path) -> bytes:
    """So many bytes of the demo corpus's training documents as JSON lines, long ones."""
    lines = (folder / "demo" / "train.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    long = []
    for start in range(0, len(records), 50):
        some = records[start : start + 50]
        text = " ".join(record["text"] for record in some)
        long.append(json.dumps({"text": text, "labels": some[0]["labels"]}) + "\n")
    block = "".join(long).encode()
    return block * (n_bytes // len(block))


def versions(models: Path) -> list[str]:
    """The versions of the demo model, oldest first."""
    return Store(models).versions("demo")


def _run(script: str, *arguments: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
