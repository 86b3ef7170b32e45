"""Yang (1999), Table 4: WORD, kNN and LLSF on Reuters with Scut, Pcut and Rcut side by side."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from app.arrays import Marks, Scores, Truth
from app.decisions.base import Batch
from app.decisions.decision import Decision
from app.decisions.rules.proportion_cut import ProportionCut
from app.decisions.tuning.hulls import Hulls
from app.errors import MissingExtraError
from app.heldout import HeldOut
from app.learners.base import learner_class
from app.papers.experiments import Experiments, ScoredRun
from app.papers.measures import eleven_point, micro_f1, micro_f1_with_sd
from app.papers.methods import Method
from app.papers.pillai import plain_cuts
from app.papers.reuters_splits import FOLDER, same_data, why_reuters_is_absent
from app.papers.rows import PaperRow, PaperTable, absent

RANKED = 10
RANKS = (1, 2, 3)
PROPORTIONS = tuple(round(1 + tenth / 10, 1) for tenth in range(31))
SELECTED = ("features.select=chi2", "features.keep=3703")
KNN = Method("kNN", "knn", ("learner.k=45", *SELECTED))
LLSF = Method("LLSF", "llsf", ("learner.rank=800", *SELECTED))
WORD = Method("WORD", "word", (), "differs: labels are described by their names alone")
COLUMNS = ("11-point, 10 ranked", "Scut", "Pcut", "Rcut")
MICRO = "Scut for micro-F1"
SCUTS = {"Scut": "macro", MICRO: "micro"}
OTHER_TUNING = "differs: cuts for the micro-F1 of all labels, not for each label's own F1"
PUBLISHED = {
    WORD: (0.221, 0.289, 0.311, 0.256),
    KNN: (0.924, 0.852, 0.834, 0.803),
    LLSF: (0.901, 0.855, 0.814, 0.792),
}
T = TypeVar("T", int, float)


def yang_table4(experiments: Experiments) -> PaperTable:
    """Every cell; all three ways to cut are tuned on out-of-fold scores of the training set."""
    rows: list[PaperRow] = []
    notes = list(NOTES)
    for method, published in PUBLISHED.items():
        why = why_reuters_is_absent(experiments) or why_not(method)
        cells = list(zip(COLUMNS, published, strict=True))
        if why:
            rows += [absent(f"{method.name}, {name}", value, why) for name, value in cells]
            continue
        run = experiments.whole(FOLDER, method)
        own, chosen = _rows(method, run, dict(cells))
        rows += own
        notes.append(f"{method.name}: {chosen} were chosen on out-of-fold scores")
    title = "Yang 1999, Table 4: ranking, and micro-F1 by three ways to cut"
    return PaperTable("yang-table4", title, rows, notes)


NOTES = [
    "± is over resamples of the test documents: the split is fixed, and there is one run",
    "Scut is tuned to each label's own F1, as in the paper; x of Pcut is one of 1.0, 1.1 … 4.0, "
    "the rank of Rcut one of 1, 2, 3, both of the highest micro-F1",
]


def why_not(method: Method) -> str | None:
    """Why a method cannot be had; None where it can."""
    try:
        learner_class(method.learner)
    except MissingExtraError as error:
        return str(error)
    return None


def _rows(
    method: Method, run: ScoredRun, published: dict[str, float]
) -> tuple[list[PaperRow], str]:
    seconds = run.seconds
    x = best(PROPORTIONS, lambda x: proportional(run, x, held_out=True), run.held_out.truth)
    k = best(RANKS, lambda k: ranked(run.held_out.scores, k), run.held_out.truth)
    marks = {
        **{name: score_cut(run, average) for name, average in SCUTS.items()},
        "Pcut": proportional(run, x),
        "Rcut": ranked(run.scores, k),
    }
    ours = {
        COLUMNS[0]: eleven_point(run.scores, run.truth, RANKED, seconds),
        **{name: micro_f1_with_sd(own, run.truth, seconds) for name, own in marks.items()},
    }
    beside = {**published, MICRO: published["Scut"]}
    rows = [
        PaperRow(
            f"{method.name}, {name}",
            beside[name],
            own,
            same_data("version 3"),
            OTHER_TUNING if name == MICRO else method.same,
        )
        for name, own in ours.items()
    ]
    return rows, f"x = {x} and rank = {k}"


def best(values: Iterable[T], marks_of: Callable[[T], Marks], truth: Truth) -> T:
    """The value whose decisions have the highest micro-F1; the first among equals."""
    return max(values, key=lambda value: micro_f1(marks_of(value), truth))


def score_cut(run: ScoredRun, average: str) -> Marks:
    """Scut: each label's own cut, among the ten labels that a document's ranking keeps."""
    held_out = HeldOut.of(_first(np.asarray(run.held_out.scores)), run.held_out.truth)
    cuts = plain_cuts(held_out, Hulls.of(held_out), average=average)
    return np.asarray(_first(run.scores) > cuts)


def _first(scores: Scores) -> Scores:
    """Scores of each document's first labels; others have none."""
    return np.where(ranked(scores, RANKED), scores, np.float32(-np.inf))


def ranked(scores: Scores, k: int) -> Marks:
    """Rcut: each document's k best labels."""
    return Decision(None, f"rank:{k}", k).decide(scores)


def proportional(run: ScoredRun, x: float, *, held_out: bool = False) -> Marks:
    """Pcut: for each label so many documents as its training frequency times x suggests."""
    scores = np.asarray(run.held_out.scores if held_out else run.scores)
    batch = Batch(len(scores), iter(scores.T), run.frequencies)
    return ProportionCut(x).batch_decision(batch).decide(scores)
