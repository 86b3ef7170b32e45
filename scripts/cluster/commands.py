"""labelserve on the node `login`, and what its runs wrote, to compare."""

import json
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cluster.nodes import SHARED, Node
from cluster.sandbox import HOME

TRAININGS = {
    "one-vs-rest": ("--learner", "one-vs-rest", "--folds", "5"),
    "tree": ("--learner", "tree", "--folds", "0", "--decision", "rank:5"),
}
ADDRESS = "tcp://n1:8786"
BY_WORKERS = ("--cluster", ADDRESS)
BY_PROCESSES = ("--jobs", "2")
SEEN = HOME / "shared"
"""The shared folder, as the sandbox sees it."""


@dataclass(frozen=True)
class Commands:
    """What a person would type on the node."""

    login: Node

    def train(self, learner: str, models: str, *options: str) -> list[str]:
        """The command of a training: of one file by processes, of several by workers."""
        data = "train/*.jsonl" if "--cluster" in options else "train.jsonl"
        return [
            "labelserve", "train", str(SHARED / data), "--model", "topics",
            "--models-dir", str(SHARED / models), "--quality", "fast",
            *TRAININGS[learner], *options,
        ]  # fmt: skip

    def trained(self, learner: str, models: str, *options: str) -> list[str]:
        """The arrays of a model that was trained, by their hashes."""
        self.login.run(*self.train(learner, models, *options))
        return arrays(models)

    def begin(self, learner: str, models: str, *options: str) -> "subprocess.Popen[bytes]":
        """A training that goes on while something else is done; what it says is kept."""
        with said(models).open("wb") as file:
            return self.login.start(*self.train(learner, models, *options), output=file)

    def predicted(self, models: str, output: str, *where: str) -> dict[str, str]:
        """Every file of predictions, by its hash."""
        given = ("--models-dir", str(SHARED / models), "--output", str(SHARED / output))
        self.login.run("labelserve", "predict", "topics", f"{SHARED}/new/*.jsonl", *given, *where)
        return hashes(SEEN / output)

    def evaluated(self, models: str, report: str, *where: str) -> dict[str, object]:
        """A report without its seconds."""
        given = ("--models-dir", str(SHARED / models), "--json", str(SHARED / report))
        self.login.run("labelserve", "evaluate", "topics", f"{SHARED}/new/*.jsonl", *given, *where)
        figures: dict[str, object] = json.loads((SEEN / report).read_text())
        figures.pop("seconds")
        return figures


def said(models: str) -> Path:
    """Where the output of a training that was begun is."""
    return HOME / f"said-{models}"


def arrays(models: str) -> list[str]:
    """Names and hashes of a model's arrays; its manifest has times in it."""
    found = hashes(SEEN / models)
    names = [name for name in found if name.endswith(".npy") and ".checkpoints" not in name]
    return sorted(f"{Path(name).name} {found[name]}" for name in names)


def hashes(folder: Path) -> dict[str, str]:
    """Every file below a folder, and what it holds."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(f.relative_to(folder)): sha256(f.read_bytes()).hexdigest() for f in files}


def left_in(models: str) -> list[str]:
    """What is in the folder of models besides the model."""
    return sorted(path.name for path in (SEEN / models).iterdir() if path.name != "topics")
