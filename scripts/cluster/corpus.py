"""Made-up data on the shared folder: enough labels for ten tasks, small enough for two cores."""

import json
import random
from pathlib import Path

LABELS, DOCUMENTS, FILES = 160, 2400, 4


def write_corpus(folder: Path) -> None:
    """train.jsonl, the same in the files of a folder `train`, and a folder `new` of others."""
    pick = random.Random(0)
    rows = [_document(pick) for _ in range(DOCUMENTS)]
    cut = DOCUMENTS * 3 // 4
    _write(folder / "train.jsonl", rows[:cut])
    _write_files(folder / "train", rows[:cut])
    _write_files(folder / "new", rows[cut:])


def _write_files(folder: Path, lines: list[str]) -> None:
    folder.mkdir()
    size = len(lines) // FILES
    for number in range(FILES):
        _write(folder / f"{number}.jsonl", lines[number * size : (number + 1) * size])


def _document(pick: random.Random) -> str:
    """A line of JSON: words that tell its two labels, among others."""
    labels = pick.sample(range(LABELS), 2)
    words = [f"w{label}x{pick.randrange(20)}" for label in labels for _ in range(6)]
    words += [f"z{pick.randrange(3000)}" for _ in range(40)]
    return json.dumps({"text": " ".join(words), "labels": [f"l{label}" for label in labels]})


def _write(file: Path, lines: list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines))
