"""How often does a learning curve's interval hold what more documents give?

    python scripts/studies/learning_curves.py DATA_DIR [--documents 6000] [--json FILE]

The curve of every corpus (training part) is made once; then its last point, and its last two, are
hidden and foretold by the points before. The interval's width was set before these were looked at.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection, subset
from app.training.learning_curve.extrapolation import extrapolate, points_of
from app.training.learning_curve.outcomes import FIGURES
from app.training.learning_curve.points import curve
from app.training.recipe import read_recipe
from app.training.train import TrainingJob

CORPORA = (
    "reuters",
    "ohsumed",
    "go_emotions",
    "debtags",
    "bibtex",
    "arxiv-cs60k",
    "yeast",
    "scene",
)
REPEATS, ASIDE = 2, 0.2


def curves(folder: Path, most: int) -> dict[str, Any]:
    """The sizes of every corpus, and its figures by repeat and size."""
    found = {}
    for name in CORPORA:
        file = next((folder / name).glob("train.*"))
        corpus = load_collection(str(file), ReadOptions())
        rows = np.random.default_rng(0).permutation(len(corpus))[:most]
        job = TrainingJob(subset(corpus, np.sort(rows)), read_recipe(None), jobs=1)
        repeats = list(curve(job, REPEATS, ASIDE))
        found[name] = {
            "sizes": [point.documents for point in repeats[0]],
            **{
                figure: [[point.figures[figure] for point in points] for points in repeats]
                for figure in FIGURES
            },
        }
        print(name, found[name], flush=True)
    return found


def foretold(found: dict[str, Any], figure: str, hidden: int) -> list[str]:
    """A line a corpus: what was expected of the last point without the last `hidden`, and found."""
    lines, held = [], 0
    known = {name: own for name, own in found.items() if len(own["sizes"]) - hidden >= 3}
    for name, own in known.items():
        values = np.array(own[figure])
        points = points_of(own["sizes"][:-hidden], values[:, :-hidden])
        expected, value = extrapolate(points, own["sizes"][-1]), float(values[:, -1].mean())
        held += expected.low <= value <= expected.high
        interval = f"{expected.value:.3f} ({expected.low:.3f}–{expected.high:.3f})"
        lines.append(
            f"| {name} | {figure} | {own['sizes'][-1 - hidden]} → {own['sizes'][-1]} "
            f"| {interval} | {value:.3f} |"
        )
    return [*lines, f"{figure}, {hidden} hidden: {held} of {len(known)} inside"]


def main() -> None:
    """Print every extrapolation beside what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--json", type=Path, help="where curves are kept, and read from if there")
    options = parser.parse_args()
    kept = options.json is not None and options.json.exists()
    found = (
        json.loads(options.json.read_text()) if kept else curves(options.data, options.documents)
    )
    if options.json is not None:
        options.json.write_text(json.dumps(found))
    for figure in FIGURES:
        for hidden in (1, 2):
            print(*foretold(found, figure, hidden), sep="\n")


if __name__ == "__main__":
    main()
