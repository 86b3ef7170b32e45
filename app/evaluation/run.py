"""evaluate: documents are read, scored and counted in chunks; memory does not grow with them."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from app.arrays import Scores
from app.classifier import Classifier
from app.datasets.base import Summary
from app.decisions.base import Batch, BatchRule
from app.document_drift.counter import DriftCounter
from app.errors import InvalidDataError, InvalidRequestError
from app.evaluation.answered_labels import answered_labels, answered_scores, old_names
from app.evaluation.chunks import TestDocument, chunks, inputs, length
from app.evaluation.deciders import WholeFile, decider
from app.evaluation.kept.keeping import keep
from app.evaluation.measure.leakage import seen_in_training
from app.evaluation.measure.measurement import Measurement, ScoredChunk
from app.evaluation.measure.truth import TruthReader
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.assembly import RunContext, assemble
from app.evaluation.report.report import Report
from app.evaluation.scorer import Decider, Scorer, part_of, summary_of
from app.evaluation.storage.pair_score_file import PairScoreFile
from app.evaluation.storage.prediction_lines import PredictionLines
from app.evaluation.storage.score_file import ScoreFile
from app.hand_rules.rule_set import Verdict
from app.metrics.counting.score_rows import DenseRows, ScoreRows, score_rows
from app.progress import Progress, silent

NO_DOCUMENTS = "there are no documents to evaluate"
NO_SCORES = np.zeros((0, 0), np.float32)


def evaluate(
    scorer: Scorer,
    documents: Iterable[TestDocument],
    options: EvaluationOptions | None = None,
    *,
    info: JudgedModel | None = None,
    progress: Progress = silent,
    scratch: Path | None = None,
) -> Report:
    """The report on these documents. Files in `scratch` are removed, also after an error."""
    options, info = options or EvaluationOptions(), info or JudgedModel()
    with tempfile.TemporaryDirectory(prefix="evaluation-", dir=scratch) as folder:
        measurement = Measurement(scorer, options, info, Path(folder))
        with closing(measurement):
            return Run(scorer, measurement, options, info).report(documents, progress)


class Run:
    """One evaluation under way."""

    def __init__(
        self,
        scorer: Scorer,
        measurement: Measurement,
        options: EvaluationOptions,
        info: JudgedModel,
    ) -> None:
        self.scorer, self.measurement, self.options, self.info = scorer, measurement, options, info
        self.truth = TruthReader(
            answered_labels(scorer), options.include_test_labels, old_names(scorer)
        )
        self.seconds = dict.fromkeys(("read", "vectorize", "score", "measure"), 0.0)
        self.seen = 0
        self.drift = None
        if info.drift is not None and isinstance(scorer, Classifier):
            self.drift = DriftCounter(info.drift)

    def report(self, documents: Iterable[TestDocument], progress: Progress = silent) -> Report:
        """Measure every document, then put the report together."""
        decision = decider(self.options.decision, self.scorer)
        read = self.read(documents, progress)
        if isinstance(decision, BatchRule):
            context = self.in_two_passes(read, decision)
        else:
            context = self.measured(read, decision)
        return self.assembled(context, summary_of(documents))

    def assembled(self, context: RunContext, summary: Summary) -> Report:
        """The report on what was measured, and what is kept of it."""
        if not len(self.measurement.documents):
            raise InvalidDataError(NO_DOCUMENTS)
        context = replace(context, drift=self.drift.figures() if self.drift else [])
        report = assemble(context, self.measurement, summary)
        keep(self.measurement, self.truth, report.content)
        return report

    def read(self, documents: Iterable[TestDocument], progress: Progress) -> Iterator[ScoredChunk]:
        """The documents with their scores and truth, chunk by chunk, while the clock runs."""
        clock, done, last = perf_counter(), 0, 0
        kept, part = self._kept(documents), part_of(documents)
        for number, chunk in chunks(kept, len(self.scorer.labels), part):
            clock = self._took("read", clock)
            scores = self.scorer.scores(inputs(chunk, self.scorer), jobs=self.options.jobs)
            clock = self._took("score", clock)
            rows = _numbers(answered_scores(self.scorer, scores))
            if self.drift is not None:
                if number != last:
                    self.drift.end_part()
                self.drift.add([document.text for document in chunk], scores)
            truth, dropped = self.truth.read([document.labels for document in chunk])
            if self.options.check_seen:
                self.seen += seen_in_training(chunk, self.info.fingerprints)
            self.measurement.keep_scores(rows, truth)
            ids = [document.id for document in chunk]
            numbers = np.array([document.line for document in chunk], np.int64)
            lengths = np.array([length(document) for document in chunk], np.int64)
            verdicts = _verdicts(chunk, self.scorer)
            yield ScoredChunk(
                *(ids, numbers, lengths, scores, rows, truth, dropped, verdicts), part=number
            )
            done, last = done + len(chunk), number
            progress("evaluate", done, 0)
            clock = self._took("measure", clock)

    def measured(self, read: Iterable[ScoredChunk], decision: Decider) -> RunContext:
        """Every chunk is decided on at once, and forgotten."""
        file = self.options.predictions
        lines = PredictionLines(file, self.scorer, decision.cuts) if file else None
        part = 0
        with closing(lines) if lines else nullcontext():
            for chunk in read:
                if chunk.part != part:
                    self.measurement.end_part(self.truth.names)
                    part = chunk.part
                marks = decision.decide(chunk.scores)
                if self.scorer.hand_rules is not None and chunk.verdicts is not None:
                    self.scorer.hand_rules.correct(marks, chunk.verdicts)
                self.measurement.add(chunk, marks, self.truth.names)
                if lines:
                    lines.add(chunk.ids, answered_scores(self.scorer, chunk.scores), marks)
        self.measurement.finish(self.truth.names)
        return self.context(decision)

    def context(self, decision: Decider) -> RunContext:
        """What is known besides the measurement."""
        return RunContext(self.options, self.info, self.truth, decision, self.seconds, self.seen)

    def in_two_passes(self, read: Iterable[ScoredChunk], rule: BatchRule) -> RunContext:
        """First all scores go to disk; then every document is decided on, knowing all others."""
        kept = [replace(chunk, scores=NO_SCORES, rows=DenseRows(NO_SCORES)) for chunk in read]
        if not kept:
            raise InvalidDataError(NO_DOCUMENTS)
        file = self._score_file(rule)
        decision = WholeFile(rule.batch_decision(self._batch(rule, file)))
        clock = perf_counter()
        again = (
            replace(chunk, scores=scores, rows=score_rows(scores))
            for chunk, scores in zip(kept, file.rows(), strict=True)
        )
        context = self.measured(again, decision)
        self._took("measure", clock)
        return context

    def _score_file(self, rule: BatchRule) -> ScoreFile | PairScoreFile:
        file = self.measurement.store.file
        if file is None:
            raise InvalidRequestError(
                f"{rule.syntax} needs all scores at once; these are more than the "
                f"{self.options.max_scores} that are kept"
            )
        return file

    def _batch(self, rule: BatchRule, file: ScoreFile | PairScoreFile) -> Batch:
        counts, n_documents = self.info.training_counts, self.info.n_training_documents
        if counts is None or not n_documents:
            raise InvalidRequestError(
                f"{rule.syntax} needs the labels' training frequencies, which are not known here"
            )
        return Batch(file.n_documents, file.whole_columns(), counts / n_documents)

    def _kept(self, documents: Iterable[TestDocument]) -> Iterable[TestDocument]:
        for document in documents:
            if document.labels or self.options.unlabelled == "keep":
                yield document
            else:
                self.truth.unlabelled += 1

    def _took(self, stage: str, since: float) -> float:
        now = perf_counter()
        self.seconds[stage] += now - since
        return now


def _verdicts(chunk: list[TestDocument], scorer: Scorer) -> list[Verdict] | None:
    """What hand-written rules say about each document; None without rules."""
    if scorer.hand_rules is None:
        return None
    return [scorer.hand_rules.verdict(document.text) for document in chunk]


def _numbers(scores: Scores) -> ScoreRows:
    """The scores in the form that takes less; NaN is refused."""
    if np.isnan(scores.max(initial=-np.inf)):
        raise InvalidDataError("a score is not a number", accepted="numbers, -inf for no score")
    return score_rows(scores)
