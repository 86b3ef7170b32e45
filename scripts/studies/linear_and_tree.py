"""The tables of docs/learners.md: what folds, pruning and links change, on training documents only.

Usage: linear_and_tree.py folds | prune CORPUS | rounding CORPUS | links CORPUS | trees CORPUS
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.training.growth import corpus

from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import micro_f_vertices
from app.heldout import HeldOut
from app.kernels.solver.types import LANES, aligned_lanes, unsolved
from app.kernels.tree.types import LINKS
from app.learners import one_vs_rest
from app.learners.base import Fitting
from app.learners.linear.block_training import BlockTraining, HeldOutFolds
from app.learners.linear.options import parse_options
from app.learners.linear.problem import LinearProblem
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.out_of_fold.scores import out_of_fold_scores
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.learners.tree.tree import Tree
from app.state import State

CUTS = (0.0, 0.12, 0.24, 0.48)
FOLDS = (
    ("from nothing", 0.001),
    ("from nothing", 0.1),
    ("warm", 0.1),
    ("warm", 0.5),
    ("warm", 1.0),
)
HELD_OUT = 0.12
TREE_CUTS = (0.05, 0.1, 0.15)
MOST_TREES = 3


def folds_study() -> None:
    """Visits and deviations of out-of-fold scores, for blocks of labels from frequent to rare."""
    features, truth = corpus("debtags")
    problem = LinearProblem.of(features, truth, parse_options("-s 1"))
    held_out = HeldOutFolds(stratified_folds(truth, 5, 0), out_of_fold_scores(truth))
    training = BlockTraining(problem, Fitting(), held_out)
    labels = problem.learnable()
    for first in np.linspace(0, len(labels) - LANES, 4).astype(int):
        chosen = labels[first : first + LANES]
        counts = np.diff(problem.truth.indptr)[chosen]
        print(f"labels with {counts.min()} to {counts.max()} documents")
        exact, marks = None, problem.truth[:, chosen].toarray()
        for start, tolerance in FOLDS:
            visits, scores = _fold_scores(training, chosen, start == "warm", tolerance)
            exact = scores if exact is None else exact
            moved = scores - exact
            deviation, positives = np.sqrt((moved**2).mean()), moved[marks].mean()
            print(f"  {start}, {tolerance}: {visits:.1f} visits, deviation {deviation:.4f}", end="")
            print(f", positives moved by {positives:.5f}", flush=True)


def _fold_scores(
    training: BlockTraining, labels: NDArray[Any], is_warm: bool, tolerance: float
) -> tuple[float, NDArray[np.float32]]:
    rows, kernel, documents = training.documents.rows, training.kernel, training.every_document
    block, visits = training.block(labels), 0
    full = unsolved(len(training.documents.kept), len(documents), block.loss)
    kernel.descend(rows, block, full, documents, np.float32(0.1), 7)
    scores = np.empty((len(documents), LANES), np.float32)
    for inside, outside in training.splits:
        solution = unsolved(len(training.documents.kept), len(documents), block.loss)
        if is_warm:
            solution = full.copy()
            kernel.forget(rows, block, solution, inside)
        visits += kernel.descend(rows, block, solution, outside, np.float32(tolerance), 1)[1]
        found = aligned_lanes(len(inside))
        kernel.score(rows, solution, inside, found)
        scores[inside] = found.reshape(-1, LANES)
    return visits / len(documents), scores


def prune_study(name: str) -> None:
    """Figures on out-of-fold scores for several cuts."""
    one_vs_rest.PRUNED_FROM = 0  # what is measured here decided which models are not pruned
    features, truth = corpus(name)
    folds = stratified_folds(truth, 5, 0)
    for cut in CUTS:
        learner, held_out = fit_with_out_of_fold(
            one_vs_rest.OneVsRest(prune=cut), features, truth, folds, Fitting()
        )
        kept = np.count_nonzero(learner.weights.matrix().data)  # type: ignore[attr-defined]
        share = kept / (features.shape[1] * truth.shape[1])
        found = ", ".join(f"{key} {value:.4f}" for key, value in _figures(held_out).items())
        print(f"{name} prune {cut}: {share:.2%} kept, {found}", flush=True)


def _figures(held_out: HeldOut) -> dict[str, float]:
    marks = held_out.truth.toarray()
    found = _precision(held_out.scores, marks)
    hulls = Hulls.of(held_out)
    vertices = micro_f_vertices(hulls, 1.0)
    tp, fp = hulls.tp[vertices].sum(), hulls.fp[vertices].sum()
    found["micro-F1"] = 2 * tp / (tp + fp + marks.sum())
    at_zero = held_out.scores > 0
    found["F1 at 0"] = 2 * (at_zero & marks).sum() / (at_zero.sum() + marks.sum())
    return found


def rounding_study(name: str) -> None:
    """P@K of weights dropped and rounded as they are stored, on training documents held out."""
    one_vs_rest.PRUNED_FROM = 0
    learning, judging = _set_aside(name)
    for cut in CUTS:
        learner = one_vs_rest.OneVsRest(prune=cut).fit(*learning)
        figures = _precision(learner.scores(judging[0]), judging[1].toarray())
        size = sum(array.nbytes for array in learner.weights.arrays.values())
        found = ", ".join(f"{key} {value:.4f}" for key, value in figures.items())
        print(f"{name} prune {cut}: {size / 1e6:.1f} MB, {found}", flush=True)


def links_study(name: str) -> None:
    """P@K of a tree with every link, on training documents held out."""
    learning, judging = _set_aside(name)
    for link in LINKS:
        tree = Tree(leaf=200, n_trees=1, prune=0.05, link=link).fit(*learning)
        print(name, link, _tree_figures(tree, *judging), flush=True)


def trees_study(name: str) -> None:
    """P@K, CPU and size for several numbers of trees and cuts, on training documents held out."""
    learning, judging = _set_aside(name)
    for cut in TREE_CUTS:
        start = time.process_time()
        state = Tree(n_trees=MOST_TREES, prune=cut).fit(*learning).state()
        cpu = (time.process_time() - start) / MOST_TREES
        for n_trees in range(1, MOST_TREES + 1):
            parts = dict(list(state.parts.items())[:n_trees])
            size = sum(array.nbytes for part in parts.values() for array in part.arrays.values())
            tree = Tree.from_state(State(state.kind, state.settings, {}, parts))
            found = f"about {n_trees * cpu:.1f} CPU s, {size / 1e6:.1f} MB"
            figures = _tree_figures(tree, *judging)
            print(name, f"prune {cut}, {n_trees} trees: {found},", figures, flush=True)


def _set_aside(name: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Features and truth to learn from, and to judge by: both of training documents."""
    features, truth = corpus(name)
    aside = np.random.default_rng(1).random(truth.shape[0]) < HELD_OUT
    judged, rest = np.flatnonzero(aside), np.flatnonzero(~aside)
    return (features[rest], truth[rest]), (features[judged], truth[judged])


def _tree_figures(tree: Tree, tested: Any, marks: Any) -> dict[str, float]:
    parts = [
        _precision(tree.scores(tested[i : i + 256]), marks[i : i + 256].toarray())
        for i in range(0, tested.shape[0] - 255, 256)
    ]
    return {key: round(float(np.mean([part[key] for part in parts])), 4) for key in parts[0]}


def _precision(scores: Any, marks: NDArray[np.bool_]) -> dict[str, float]:
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    hits = np.take_along_axis(marks, best, axis=1)
    return {f"P@{k}": float(hits[:, :k].mean()) for k in (1, 3, 5)}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["folds"]:
            folds_study()
        case ["prune", name]:
            prune_study(name)
        case ["rounding", name]:
            rounding_study(name)
        case ["links", name]:
            links_study(name)
        case ["trees", name]:
            trees_study(name)
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)
