"""Experiments: the scores that the papers' tables are made of, fitted once and shared by them."""

from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.datasets.collection import Collection, subset
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.heldout import HeldOut
from app.learners.base import Fitting
from app.papers.corpus import Corpus, read_corpus, why_absent
from app.papers.methods import Method
from app.progress import Progress, silent
from app.training.fold_plan import FoldPlan
from app.training.members import FittedMember, TrainingData, fit_member

TENTHS, LEFT_OUT, FOLDS, SEARCH_FOLDS = 10, 2, 5, 4


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One fit: scores to tune on and scores of the test set, beside the truth."""

    held_out: HeldOut
    """Without documents where nothing was held out."""
    hulls: Hulls
    scores: Scores
    truth: Truth
    frequencies: NDArray[np.float64]
    """The share of training documents that carry each label."""
    seconds: float

    def of_labels(self, columns: NDArray[np.int64]) -> "ScoredRun":
        """The same scores of some labels alone, as if there were no others."""
        held_out = HeldOut.of(
            self.held_out.scores[:, columns],
            self.held_out.truth[:, columns],
            parts=self.held_out.parts,
        )
        return ScoredRun(
            held_out,
            Hulls.of(held_out),
            self.scores[:, columns],
            self.truth[:, columns],
            self.frequencies[columns],
            self.seconds,
        )


@dataclass(slots=True)
class Experiments:
    """Collections of a folder, and scores by collection, method and run; each made once."""

    folder: Path
    runs: int = 10
    progress: Progress = silent
    _corpora: dict[str, Corpus] = field(default_factory=dict)
    _scored: dict[Any, ScoredRun] = field(default_factory=dict)
    _chosen: dict[tuple[str, Method], Method] = field(default_factory=dict)

    def why_absent(self, name: str) -> str | None:
        """Why a collection cannot be had; None where it can."""
        return why_absent(self.folder / name)

    def corpus(self, name: str) -> Corpus:
        """A collection of the folder, read once."""
        if name not in self._corpora:
            self._corpora[name] = read_corpus(self.folder / name)
        return self._corpora[name]

    def whole(self, corpus: str, method: Method, *, holds_out: bool = True) -> ScoredRun:
        """Fitted to all training documents."""
        every = np.arange(len(self.corpus(corpus).train))
        method = self.chosen(corpus, method)
        return self._run((corpus, method, "whole", holds_out), every, FOLDS if holds_out else 0)

    def parts(self, corpus: str, method: Method) -> list[ScoredRun]:
        """Fitted to eight random tenths of the training documents, once a run (Pillai 2013, 5.1).

        Run r leaves out tenths r and r + 1; after ten runs the documents are parted anew.
        """
        n, method = len(self.corpus(corpus).train), self.chosen(corpus, method)
        return [
            self._run((corpus, method, run), eight_tenths(n, run), FOLDS)
            for run in range(self.runs)
        ]

    def chosen(self, corpus: str, method: Method) -> Method:
        """The method with its choice of highest micro-F1 out of four folds of the training set.

        As Pillai (2013, 5) chooses parameters; the first among equals. No test document is read.
        """
        if not method.choices:
            return method
        if (corpus, method) not in self._chosen:
            candidates = [method.chosen(choice) for choice in method.choices]
            values = [self._out_of_fold_f1(corpus, one) for one in candidates]
            self._chosen[corpus, method] = candidates[int(np.argmax(values))]
        return self._chosen[corpus, method]

    def _out_of_fold_f1(self, corpus: str, method: Method) -> float:
        """The highest micro-F1 that cuts can have on out-of-fold scores."""
        self.progress(f"{corpus} {method.name}, choosing", 0, 0)
        data = self.corpus(corpus)
        held_out = _fit(data, method, data.train, SEARCH_FOLDS, seed=0).held_out
        assert held_out is not None  # noqa: S101 - there are folds
        hulls = Hulls.of(held_out)
        return micro_f(hulls, micro_f_vertices(hulls))

    def _run(self, key: tuple[Any, ...], rows: NDArray[np.int64], folds: int) -> ScoredRun:
        if key not in self._scored:
            self.progress(f"{key[0]} {key[1].name}", 0, 0)
            self._scored[key] = self._fitted(self.corpus(key[0]), key[1], rows, folds)
        return self._scored[key]

    def _fitted(
        self, corpus: Corpus, method: Method, rows: NDArray[np.int64], folds: int
    ) -> ScoredRun:
        start, data = process_time(), subset(corpus.train, rows)
        truth = corpus.labels.truth(data.label_sets)
        fitted = _fit(corpus, method, data, folds, seed=int(rows.sum() % 1000))
        scores = _scores(fitted, corpus.test.documents)
        held_out = fitted.held_out or HeldOut.of(scores[:0], truth[:0])
        shares = np.asarray(truth.sum(axis=0), np.float64).ravel() / len(rows)
        return ScoredRun(
            held_out, Hulls.of(held_out), scores, corpus.test_truth, shares, process_time() - start
        )


def eight_tenths(n_documents: int, run: int) -> NDArray[np.int64]:
    """The documents of a run, by rising number.

    >>> len(eight_tenths(100, 9)), np.intersect1d(eight_tenths(10, 0), eight_tenths(10, 2)).size
    (80, 6)
    """
    round_, first = divmod(run, TENTHS)
    order = np.random.default_rng(round_).permutation(n_documents)
    tenth = np.arange(n_documents) * TENTHS // max(n_documents, 1)
    is_left_out = (tenth - first) % TENTHS < LEFT_OUT
    return np.sort(order[~is_left_out])


def _fit(
    corpus: Corpus, method: Method, data: Collection, folds: int, *, seed: int
) -> FittedMember:
    """The method fitted to these documents of the corpus, with out-of-fold scores."""
    truth = corpus.labels.truth(data.label_sets)
    return fit_member(
        method.recipe(is_ready_made=data.is_ready_made).members[0],
        TrainingData(data.documents, truth, label_texts=corpus.label_texts),
        plan=FoldPlan(folds),
        fitting=Fitting(seed=seed),
    )


def _scores(fitted: FittedMember, documents: Any) -> Scores:
    features = fitted.member.vectorizer.transform(documents)
    return np.asarray(fitted.member.learner.scores(features), np.float32)
