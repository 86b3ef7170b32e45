"""Which cuts hold on documents they were not tuned on? Cross-validation inside training data only.

    python scripts/studies/cuts.py DATA_DIR [--folds 3]

Every corpus' training part is split into outer folds. Inside the other folds a model is trained and
its cuts are tuned on out-of-fold scores, as `scripts/train.py` does; the outer fold then tells what
they are worth. No test set is opened.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.datasets.collection import load_collection
from app.decisions.calibration.score_groups import ScoreGroups
from app.decisions.calibration.sigmoids import fit_sigmoids
from app.decisions.decision import Decision
from app.decisions.tuning.bagged_cuts import best_places
from app.decisions.tuning.held_out_figures import figures_of, held_out_counts
from app.decisions.tuning.hulls import Hulls, points, thinned
from app.decisions.tuning.macro_f import f_by_vertex, macro_f_vertices
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.tune import tune
from app.heldout import HeldOut
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.vectorizers.tfidf import Tfidf

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import write_section

CORPORA = ("reuters", "debtags", "ohsumed", "go_emotions")
SPLITS, INNER = 5, 5


class Case(NamedTuple):
    """What a tuner sees, and what its cuts are judged on."""

    tuned_on: HeldOut
    hulls: Hulls
    judged_on: HeldOut


Cutter = Callable[[Case], NDArray[np.float32]]


def cases(folder: Path, features: dict[str, Any], n_outer: int) -> Iterator[Case]:
    """One case an outer fold."""
    corpus = load_collection(folder / "train.txt.gz")
    labels = LabelIndex.of(corpus.label_sets)
    truth = labels.truth(corpus.label_sets)
    outer = stratified_folds(truth, SPLITS, seed=77)
    for outside, inside in islice(outer.splits(), n_outer):
        vectorizer, learner = Tfidf(**features), OneVsRest()
        rows = vectorizer.fit_transform([corpus.documents[i] for i in inside])
        folds = stratified_folds(truth[inside], INNER, seed=0)
        fitting = Fitting(held_out_rows=vectorizer.held_out_rows)
        fitted, held_out = fit_with_out_of_fold(learner, rows, truth[inside], folds, fitting)
        scores = fitted.scores(vectorizer.transform([corpus.documents[i] for i in outside]))
        yield Case(held_out, Hulls.of(held_out), HeldOut.of(scores, truth[outside]))


def by_scores(name: str) -> Cutter:
    """A tuner of the product, but with the scores of cuts averaged over resamples."""

    def cut(case: Case) -> NDArray[np.float32]:
        hulls, random = case.hulls, np.random.default_rng(0)
        values = f_by_vertex(hulls)[macro_f_vertices(hulls)]
        if name == "micro-f":
            values = np.full(hulls.n_labels, micro_f(hulls, micro_f_vertices(hulls)))
        cuts = np.full(hulls.n_labels, np.inf, np.float32)
        for label, column in enumerate(case.tuned_on.columns()):
            if column.marks.any():
                candidates = thinned(points(column))
                best = best_places(candidates, values[label] / 2, 100, random)
                cuts[label] = candidates.cuts[best].mean(dtype=np.float64)
        return cuts

    return cut


def stored(name: str, **options: Any) -> Cutter:
    """A tuner of the product."""

    def cut(case: Case) -> NDArray[np.float32]:
        decision = tune(name, case.tuned_on, case.hulls, TuningOptions(**options))
        return np.asarray(decision.cuts)

    return cut


def common_cut(case: Case) -> NDArray[np.float32]:
    """The one cut for all labels that has the best micro-F1."""
    every = case.tuned_on.scores.reshape(-1, 1)
    pooled = HeldOut.of(every, case.tuned_on.truth.reshape(-1, 1))
    hulls = Hulls.of(pooled)
    cut = hulls.cuts[micro_f_vertices(hulls)]
    return np.repeat(cut, case.hulls.n_labels)


def calibrated(case: Case) -> Any:
    """The score at which the label's sigmoid reaches half the best micro-F1."""
    return calibrated_at(case, micro_f(case.hulls, micro_f_vertices(case.hulls)) / 2)


def calibrated_at(case: Case, probability: float) -> Any:
    """The score at which each label's sigmoid reaches the probability."""
    slopes, intercepts = fit_sigmoids(ScoreGroups.of(case.tuned_on))
    return ((np.log(probability / (1 - probability)) - intercepts) / slopes).astype(np.float32)


def shrunk(to: Cutter, strength: float) -> Cutter:
    """Exact micro-f cuts shrunk to others with weight strength / (strength + positives)."""

    def cut(case: Case) -> NDArray[np.float32]:
        own, other = stored("micro-f", resamples=0)(case), to(case)
        n = case.hulls.positives
        own = np.where(np.isfinite(own), own, other)
        return np.asarray((n * own + strength * other) / (n + strength), np.float32)

    return cut


def common_below(positives: int) -> Cutter:
    """Exact micro-f cuts, but one cut for all labels with fewer positives."""

    def cut(case: Case) -> NDArray[np.float32]:
        is_rare = case.hulls.positives < positives
        return np.where(is_rare, common_cut(case), stored("micro-f", resamples=0)(case))

    return cut


TRIED: dict[str, Cutter] = {
    "cut at 0": lambda case: np.zeros(case.hulls.n_labels, np.float32),
    "common cut of all labels": common_cut,
    "micro-f, exact (`resamples=0`)": stored("micro-f", resamples=0),
    "… shrunk to the common cut, 3/(3+n)": shrunk(common_cut, 3),
    "… shrunk to the calibrated cut, 1/(1+n)": shrunk(calibrated, 1),
    "… shrunk to the calibrated cut, 10/(10+n)": shrunk(calibrated, 10),
    "… common cut for labels under 10 positives": common_below(10),
    "calibrated cut alone": calibrated,
    "**micro-f** (default: 100 resamples)": stored("micro-f"),
    "micro-f, resampled cuts averaged by score": by_scores("micro-f"),
    "macro-f, resampled cuts averaged by score": by_scores("macro-f"),
    "macro-f, exact (`resamples=0`)": stored("macro-f", resamples=0),
    "**macro-f** (100 resamples)": stored("macro-f"),
    "micromacro (published)": stored("micromacro"),
    "micromacro-pooled": stored("micromacro-pooled"),
    "micro-f with FBR.1 at .1": stored("micro-f", fbr=0.1),
}
DEFAULT = "**micro-f** (default: 100 resamples)"
SCHEMES = ("tfidf", "log")
Figures = dict[tuple[str, str], list[tuple[float, float]]]


def measured(cut: Cutter, case: Case) -> tuple[float, float]:
    """Micro- and macro-F1 on the outer fold; macro over all labels."""
    figures = figures_of(held_out_counts(Decision(cut(case), "studied"), case.judged_on))
    return figures["micro_f1"], figures["macro_f1"]


def main() -> None:
    """Print and store the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--folds", type=int, default=3, choices=range(1, SPLITS + 1))
    given = arguments.parse_args()
    tuners: Figures = defaultdict(list)
    schemes: Figures = defaultdict(list)
    for corpus in CORPORA:
        for case in cases(given.data / corpus, {"scheme": "tfidf"}, given.folds):
            schemes["tfidf", corpus].append(measured(TRIED[DEFAULT], case))
        for case in cases(given.data / corpus, {"scheme": "log"}, given.folds):
            for name, cut in TRIED.items():
                tuners[name, corpus].append(measured(cut, case))
        schemes["log", corpus] = tuners[DEFAULT, corpus]
        print(table(list(TRIED), [corpus], tuners), flush=True)
    write_section("decisions-study", section(given.folds, tuners, schemes))


def section(n_folds: int, tuners: Figures, schemes: Figures) -> str:
    """The section in Markdown."""
    return "\n".join(
        [
            "## Which cuts hold on other documents",
            "",
            "Cross-validation inside training data (no test set opened): a model is trained on "
            "four fifths of a corpus' training part, cuts are tuned on its out-of-fold scores and "
            f"judged on the fifth left out; means of {n_folds} parts. Micro-F1 / macro-F1 over "
            "all labels; one-vs-rest, C = 1, `log` tf-idf.",
            "",
            table(list(TRIED), CORPORA, tuners),
            "",
            "The same for the weighting of terms, with the default cuts:",
            "",
            table(list(SCHEMES), CORPORA, schemes),
            "",
            f"{machine()}. Reproduce: `.venv/bin/python scripts/studies/cuts.py DATA_DIR "
            f"--folds {n_folds}`, DATA_DIR with a folder a corpus.",
        ]
    )


def table(names: list[str], corpora: Sequence[str], figures: Figures) -> str:
    """One row a name, one column a corpus."""
    rows = [f"| {'| '.join(['', *corpora])} |", "|---" * (len(corpora) + 1) + "|"]
    for name in names:
        means = (np.mean(figures[name, corpus], axis=0) for corpus in corpora)
        cells = (f"{micro:.4f} / {macro:.4f}"[1:].replace("/ 0", "/ ") for micro, macro in means)
        rows.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
