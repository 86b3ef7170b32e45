"""Is drift of documents seen where there is some, and only there?

    python scripts/studies/document_drift.py DATA_DIR [--documents 6000]

A model is trained on one half of a corpus's training documents, at random. Resamples of the other
half are to be quiet: the model never saw them, and they come from the same source. Then documents
of another corpus, the same ones cut to a third, put together in threes, and in another language
are counted until the model says that they differ.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from app.artifacts.store import Store
from app.datasets.collection import Collection, load_collection, subset
from app.document_drift.figures import DriftFigure
from app.document_drift.reference import DriftReference
from app.model import Model, load_model
from app.training.publish import publish
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import write_section

CORPORA = ("reuters", "go_emotions")
RESAMPLES, RESAMPLED = 20, 2000
STEP, MOST = 100, 2000
OTHER_LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
"""Another language, made up: every word is one that the model does not know."""


def halves(corpus: Collection, most: int) -> tuple[Collection, Collection]:
    """Two halves of some documents, at random."""
    order = np.random.default_rng(0).permutation(len(corpus))[:most]
    middle = len(order) // 2
    return subset(corpus, order[:middle]), subset(corpus, order[middle:])


def trained(corpus: Collection, folder: Path) -> Model:
    """The model of a corpus with the recipe that nobody set anything of."""
    store = Store(folder)
    publish(train(TrainingJob(corpus, read_recipe(None))), store, "study")
    return load_model(store, "study")


def figures(model: Model, reference: DriftReference, texts: list[str]) -> list[DriftFigure]:
    """What the model says of these texts."""
    return reference.figures(reference.counted(texts, model.classifier.scores(texts)))


def quiet_resamples(model: Model, reference: DriftReference, texts: list[str]) -> tuple[int, float]:
    """How many resamples are quiet, and the largest index of all."""
    n_quiet, largest = 0, 0.0
    for seed in range(RESAMPLES):
        chosen = np.random.default_rng(seed).integers(len(texts), size=RESAMPLED)
        found = figures(model, reference, [texts[row] for row in chosen])
        n_quiet += not any(figure.is_drifted for figure in found)
        largest = max(largest, *(figure.psi for figure in found))
    return n_quiet, largest


def seen_after(model: Model, reference: DriftReference, texts: list[str]) -> tuple[str, str]:
    """After how many documents drift is said, in steps of a hundred, and of which measures."""
    for n in range(STEP, min(len(texts), MOST) + 1, STEP):
        moved = [f.measure for f in figures(model, reference, texts[:n]) if f.is_drifted]
        if moved:
            return str(n), ", ".join(moved)
    return f"not within {min(len(texts), MOST)}", "–"


def first_third(text: str) -> str:
    """The first words of a text."""
    words = text.split()
    return " ".join(words[: -(-len(words) // 3)])


def changes(texts: list[str], other: list[str]) -> dict[str, list[str]]:
    """Documents that changed, by how."""
    made: dict[str, Callable[[int], str]] = {
        "a third of the words": lambda i: first_third(texts[i]),
        "three documents in one": lambda i: " ".join(texts[i : i + 3]),
        "another language": lambda i: texts[i].lower().translate(OTHER_LETTERS),
    }
    n = min(len(texts), MOST)
    return {
        "another corpus": other,
        **{how: [make(i) for i in range(n)] for how, make in made.items()},
    }


def section(name: str, model: Model, texts: list[str], other: list[str]) -> list[str]:
    """The lines of one corpus."""
    reference = model.drift_reference
    if reference is None:
        raise ValueError(f"{name}: too few documents")
    n_quiet, largest = quiet_resamples(model, reference, texts)
    resampled = f"{RESAMPLES} resamples of {RESAMPLED:,}"
    lines = [f"| {name} | {resampled} | {n_quiet} quiet | PSI ≤ {largest:.3f} |"]
    for how, changed in changes(texts, other).items():
        lines.append(f"| {name} | {how} | {' | '.join(seen_after(model, reference, changed))} |")
    return lines


def main() -> None:
    """Train, resample, change, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=6000, help="of each corpus, at most")
    options = parser.parse_args()
    parts = {}
    for name in CORPORA:
        file = next(iter(sorted((options.data / name).glob("train.*"))))
        parts[name] = halves(load_collection(file), options.documents)
    lines = []
    for name, other in zip(CORPORA, CORPORA[::-1], strict=True):
        with TemporaryDirectory() as folder:
            model = trained(parts[name][0], Path(folder))
            lines += section(name, model, parts[name][1].documents, parts[other][1].documents)
        print(*lines, sep="\n", flush=True)
    write_section("document-drift", text(lines, options.documents))


def text(lines: list[str], documents: int) -> str:
    """The section of docs/benchmarks.md."""
    return "\n".join(
        [
            "## When live documents count as changed",
            "",
            f"Models of half of up to {documents:,} documents of a corpus, chosen at random, and "
            "the other half, which they never saw: resampled, and changed in four ways. `seen "
            "after` is the number of documents from which on a measure is called drifted, in steps "
            "of 100; 200 is the least that is judged. The other language is this one with every "
            "letter replaced by another.",
            "",
            "| corpus | documents | seen after | measures |",
            "|---|---|---|---|",
            *lines,
            "",
            f"{machine()}. Reproduce: `python scripts/studies/document_drift.py DATA_DIR`.",
        ]
    )


if __name__ == "__main__":
    main()
