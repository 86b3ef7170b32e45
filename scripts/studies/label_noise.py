"""Are planted label faults found, and what does it bring to put them right?

    python scripts/studies/label_noise.py DATA_DIR --cleanlab PYTHON [--only reuters] [--rounds 3]
    python scripts/studies/label_noise.py DATA_DIR --part settings

5 % of a corpus' pairs are dropped, flipped, or swapped with a sibling (planted_noise.py). `found`:
how many of the first suspects are planted, beside cleanlab with the same probabilities (PYTHON has
cleanlab 2.9 installed), and what both take on debtags. `corrected`: a reviewer who knows the truth
looks at the first suspects; models of the faulty, the corrected and the true labels are judged on
the corpus' own test set. `settings`: the weights of the evidence, on corpora that are not reported.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.datasets.collection import Collection, load_collection, subset
from app.decisions.calibration.calibration import Calibration
from app.evaluation.run import evaluate
from app.evaluation.suspects.co_occurrence import CoOccurrence
from app.evaluation.suspects.evidence import EvidenceWeights, evidence, frequencies
from app.evaluation.suspects.held_out import held_out_pairs
from app.heldout import HeldOut
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.fold_plan import fold_plan
from app.training.members import TrainingData, fit_member
from app.training.publish import documents_of
from app.training.recipe import Recipe
from app.training.train import TrainingJob, train

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import write_section
from studies.planted_noise import KINDS, Planted, planted, with_labels

CORPORA = ("reuters", "debtags", "ohsumed")
SETTINGS_CORPORA, SETTINGS_SEEDS = {"arxiv-cs60k": 8000, "go_emotions": 12_000}, 3
"""Documents drawn of each corpus; neither is reported."""
MEASURED = ("debtags", "dropped")
SYSTEMS = ("labelserve", "cleanlab", "cleanlab-adjusted")
PROGRAM = Path(__file__).with_name("noise_ranking.py")
GRID = ((2, 4, 6), (2, 4, 6, 8), (1, 2, 3), (0.05, 0.5, 0.8, 0.95), (0, 0.5))
"""Of `EvidenceWeights`, in their order."""
LOOKED_AT = (1, 3)
"""How many suspects the reviewer looks at, in numbers of planted faults."""


class Found(NamedTuple):
    """How well a ranking finds the planted faults."""

    precision: float
    """At as many pairs as there are faults."""
    average_precision: float


def found(ranked: NDArray[Any], planted: Planted) -> Found:
    """Judge suspicions of all pairs; -inf is never looked at."""
    order = _by_suspicion(ranked)
    is_fault = (planted.given != planted.true).ravel()[order]
    at = np.flatnonzero(is_fault)
    precisions = np.arange(1, len(at) + 1) / (at + 1)
    first = is_fault[: planted.n_faults]
    return Found(float(first.mean()), float(precisions.sum() / planted.n_faults))


def _by_suspicion(ranked: NDArray[Any]) -> NDArray[np.int64]:
    flat = ranked.ravel()
    places = np.flatnonzero(flat > -np.inf)
    return places[np.argsort(-flat[places], kind="stable")]


def held_out_of(corpus: Collection, labels: LabelIndex, jobs: int) -> HeldOut:
    """The out-of-fold scores of a default model."""
    recipe = Recipe().completed()
    data = TrainingData(corpus.documents, labels.truth(corpus.label_sets))
    plan = fold_plan(recipe, corpus)
    fitted = fit_member(recipe.members[0], data, plan=plan, fitting=Fitting(jobs=jobs))
    if fitted.held_out is None:
        raise ValueError("no held-out scores")
    return fitted.held_out


def stored(faulty: Planted, jobs: int, file: Path) -> None:
    """Everything that a ranking is given, as one file."""
    held_out = held_out_of(faulty.corpus, faulty.labels, jobs)
    calibration = Calibration.fit(held_out)
    arrays: dict[str, Any] = {
        "scores": held_out.scores,
        "probabilities": calibration.probabilities(held_out.scores),
        "given": faulty.given,
        **calibration.state().arrays,
    }
    np.savez(file, **arrays)


def ranking(system: str, source: Path, python: str) -> tuple[NDArray[Any], dict[str, float]]:
    """The suspicions by one system, in a process of its own, and what it took."""
    target = source.with_name("ranked.npy")
    program = sys.executable if system == "labelserve" else python
    command = [program, "-W", "ignore", str(PROGRAM), system, str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return np.load(target), json.loads(done.stdout.splitlines()[-1])


def corrected(ranked: NDArray[Any], faulty: Planted, looked_at: int) -> Collection:
    """The corpus after a reviewer who knows the truth has looked at the first suspects."""
    given = faulty.given.copy()
    first = _by_suspicion(ranked)[: looked_at * faulty.n_faults]
    given.ravel()[first] = faulty.true.ravel()[first]
    return with_labels(faulty.corpus, faulty.labels, given)


def test_figures(corpus: Collection, test: Collection, jobs: int) -> str:
    """Micro- and macro-F1 on the test set of a default model."""
    trained = train(TrainingJob(corpus, Recipe(), jobs=jobs))
    report = evaluate(trained.classifier, documents_of(test)).as_dict()["decisions"]
    return f"{report['micro']['f1']:.4f} / {report['macro_in_test']['f1']:.4f}"


def study(data: Path, corpora: list[str], options: argparse.Namespace) -> None:
    """Print and store the tables."""
    finding = [
        f"| corpus | faults | planted | {' | '.join(SYSTEMS)} |",
        "|---|---|---|" + "---|" * len(SYSTEMS),
    ]
    looked = [f"corrected, {times} × looked at" for times in LOOKED_AT]
    mending = [
        f"| corpus | faults | faulty labels | {' | '.join(looked)} | true labels |",
        "|---|---|---|" + "---|" * (len(looked) + 1),
    ]
    measured = ""
    for corpus in corpora:
        whole = load_collection(data / corpus / "train.txt.gz")
        test = load_collection(data / corpus / "test.txt.gz")
        clean = test_figures(whole, test, options.jobs)
        for kind in KINDS:
            faulty = planted(whole, kind, options.seed)
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder) / "given.npz"
                stored(faulty, options.jobs, source)
                systems = {name: ranking(name, source, options.cleanlab)[0] for name in SYSTEMS}
                if (corpus, kind) == MEASURED:
                    measured = costs(source, options)
            told = [found(ranked, faulty) for ranked in systems.values()]
            cells = " | ".join(f"{one.precision:.3f}, {one.average_precision:.3f}" for one in told)
            finding.append(f"| {corpus} | {kind} | {faulty.n_faults:,} | {cells} |")
            mended = [corrected(systems["labelserve"], faulty, times) for times in LOOKED_AT]
            reached = [test_figures(one, test, options.jobs) for one in (faulty.corpus, *mended)]
            mending.append(f"| {corpus} | {kind} | {' | '.join(reached)} | {clean} |")
            print(finding[-1], mending[-1], measured, sep="\n", flush=True)
    _write(finding, mending, measured, is_whole=corpora == list(CORPORA))


def costs(source: Path, options: argparse.Namespace) -> str:
    """Median CPU seconds and memory of each system, in alternating runs."""
    systems = ("labelserve", "cleanlab", "cleanlab-adjusted", "cleanlab-filter")
    took: dict[str, list[dict[str, float]]] = {name: [] for name in systems}
    for _ in range(options.rounds):
        for name in systems:
            took[name].append(ranking(name, source, options.cleanlab)[1])
    return "; ".join(
        f"{name} {median(one['seconds'] for one in runs):.2f} s, "
        f"{median(one['megabytes'] for one in runs):.0f} MB"
        for name, runs in took.items()
    )


def _write(finding: list[str], mending: list[str], measured: str, *, is_whole: bool) -> None:
    text = [
        "## Planted label faults",
        "",
        "5 % of the training pairs dropped, flipped (half dropped, half given to any document), or "
        "swapped with one of the five labels of most similar documents. Precision at the number of "
        "planted faults, average precision; faults that a corpus has by nature count as errors of "
        "the ranking. cleanlab 2.9 is given the same out-of-fold probabilities.",
        "",
        *finding,
        "",
        f"What the ranking takes on {' '.join(MEASURED)}, above its input: {measured}.",
        "",
        "Micro-F1 / macro-F1 (labels in test) on the test set, whose labels are left alone, of a "
        "default model of the faulty labels; of those after a reviewer who knows the truth looked "
        "at the first suspects (in numbers of planted faults); and of the true labels.",
        "",
        *mending,
        "",
        f"{machine()}. Reproduce: `.venv/bin/python scripts/studies/label_noise.py DATA_DIR "
        "--cleanlab PYTHON`, where PYTHON has cleanlab 2.9; the settings were chosen by "
        f"`--part settings`, on {' and '.join(SETTINGS_CORPORA)}.",
    ]
    if is_whole:
        write_section("label-noise", "\n".join(text))
    print("\n".join(text))


def settings(data: Path, options: argparse.Namespace) -> None:
    """Average precision by the weights of the evidence, over seeds and kinds, best first."""
    reached: dict[EvidenceWeights, list[float]] = {}
    for seed, corpus, kind in product(range(SETTINGS_SEEDS), SETTINGS_CORPORA, KINDS):
        whole = load_collection(data / corpus / "train.txt.gz")
        rows = np.random.default_rng(seed).permutation(len(whole))[: SETTINGS_CORPORA[corpus]]
        faulty = planted(subset(whole, np.sort(rows)), kind, seed)
        for weights, value in by_weights(faulty, options.jobs):
            reached.setdefault(weights, []).append(value)
    cases = [f"{corpus} {kind}" for corpus, kind in product(SETTINGS_CORPORA, KINDS)]
    for weights, values in sorted(reached.items(), key=lambda one: -sum(one[1])):
        means = np.reshape(values, (SETTINGS_SEEDS, len(cases))).mean(axis=0)
        told = ", ".join(f"{case} {value:.3f}" for case, value in zip(cases, means, strict=True))
        print(f"{tuple(weights)}: mean {np.mean(values):.4f} ({told})")


def by_weights(faulty: Planted, jobs: int) -> Iterator[tuple[EvidenceWeights, float]]:
    """The average precision that each weighting reaches."""
    held_out = held_out_of(faulty.corpus, faulty.labels, jobs)
    pairs = held_out_pairs(held_out, Calibration.fit(held_out))
    together = CoOccurrence.of(held_out.truth)
    frequency = frequencies(together.documents, held_out.n_documents)
    for weights in map(EvidenceWeights._make, product(*GRID)):
        ranked = np.full(faulty.given.shape, -np.inf)
        ranked[pairs.document, pairs.label] = evidence(pairs, frequency, together, weights)
        yield weights, found(ranked, faulty).average_precision


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("found", "settings"), default="found")
    parser.add_argument("--cleanlab", default=sys.executable, help="a Python that has cleanlab")
    parser.add_argument("--only", help="corpora, comma-separated; nothing is stored then")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.part == "settings":
        settings(options.data, options)
    else:
        study(options.data, (options.only or ",".join(CORPORA)).split(","), options)


if __name__ == "__main__":
    main()
