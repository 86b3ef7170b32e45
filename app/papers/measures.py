"""Figures of the papers from scores, cuts and truth: micro-F1, 11-point, break-even, with sd."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores, Truth
from app.decisions.decision import Decision
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import Steps
from app.heldout import HeldOut
from app.metrics.break_even import TopScores, break_even, break_even_per_label
from app.metrics.counting.true_ranks import TrueRanks
from app.metrics.eleven_point import eleven_points
from app.metrics.significance.bootstrap import micro_f
from app.papers.rows import Measured

RESAMPLES, FEW_RESAMPLES = 200, 25
BOOTSTRAP = "bootstrap"


def micro_f1(marks: Marks, truth: Truth) -> float:
    """Micro-F1 of decisions; 0/0 is 0."""
    return float(micro_f(_counts(marks, truth).sum(axis=0)))


def micro_f1_with_sd(marks: Marks, truth: Truth, seconds: float) -> Measured:
    """Micro-F1, and its standard deviation over resamples of the test documents."""
    counts = _counts(marks, truth)
    weights = _drawn(len(counts), RESAMPLES)
    sd = float(micro_f(weights @ counts).std(ddof=1))
    return Measured(float(micro_f(counts.sum(axis=0))), sd, BOOTSTRAP, seconds)


def eleven_point(scores: Scores, truth: Truth, n_ranked: int, seconds: float) -> Measured:
    """11-point average precision of each document's `n_ranked` best labels; sd of the mean."""
    best = Decision(None, f"rank:{n_ranked}", n_ranked).decide(scores)
    ranked = TrueRanks.of(np.where(best, scores, np.float32(-np.inf)), truth)
    values = eleven_points(ranked).mean(axis=1)
    return Measured(
        float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5), BOOTSTRAP, seconds
    )


def one_cut_break_even(scores: Scores, truth: Truth) -> float:
    """The micro break-even point of one cut for all labels."""
    top = TopScores(int(truth.nnz))
    top.add(scores)
    return break_even(top, scores[truth.nonzero()]).value


def label_cuts_break_even(scores: Scores, truth: Truth) -> float:
    """The micro break-even point of a cut a label, the best there are on these documents."""
    steps = Steps.of(Hulls.of(HeldOut.of(scores, truth)))
    return break_even_per_label(steps.tp, steps.fp, int(truth.nnz)).value


def resampled(
    figure: Callable[[Scores, Truth], float], scores: Scores, truth: Truth, seconds: float
) -> Measured:
    """A figure of scores, and its standard deviation over a few resamples of the documents."""
    random = np.random.default_rng(0)
    values = []
    for _ in range(FEW_RESAMPLES):
        rows = np.sort(random.integers(0, len(scores), len(scores)))
        values.append(figure(scores[rows], truth[rows]))
    return Measured(figure(scores, truth), float(np.std(values, ddof=1)), BOOTSTRAP, seconds)


def _counts(marks: Marks, truth: Truth) -> NDArray[np.int64]:
    """(documents, 3): TP, FP and FN."""
    true = truth.toarray()
    cells = (marks & true, marks & ~true, ~marks & true)
    return np.stack([cell.sum(axis=1) for cell in cells], axis=1)


def _drawn(n_documents: int, n_resamples: int) -> NDArray[np.float64]:
    """(resamples, documents): how often each was drawn."""
    shares = np.full(n_documents, 1 / n_documents)
    drawn = np.random.default_rng(0).multinomial(n_documents, shares, size=n_resamples)
    return drawn.astype(np.float64)
