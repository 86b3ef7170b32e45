"""merged_report: the report on a test set whose files were measured one by one."""

import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from app.datasets.base import Summary
from app.datasets.by_file.part_summary import PartSummary, whole_summary
from app.decisions.base import BatchRule
from app.errors import InvalidRequestError
from app.evaluation.deciders import Abstaining, decider
from app.evaluation.measure.measurement import Measurement
from app.evaluation.measure.tally import part
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.partitions.measured_file import MeasuredFile
from app.evaluation.report.report import Report
from app.evaluation.run import Run
from app.evaluation.scorer import Scorer
from app.progress import Progress, silent


def merged_report(
    scorer: Scorer,
    files: Iterable[MeasuredFile],
    options: EvaluationOptions,
    *,
    info: JudgedModel,
    progress: Progress = silent,
) -> tuple[Report, Summary]:
    """The report, and how the files were read; they come in their order, one at a time."""
    with tempfile.TemporaryDirectory(prefix="evaluation-") as folder:
        measurement = Measurement(scorer, options, info, Path(folder))
        with closing(measurement):
            merging = MergedRun(Run(scorer, measurement, options, info))
            return merging.report(files, progress)


class MergedRun:
    """A run whose documents were measured elsewhere."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._decision = decider(run.options.decision, run.scorer)
        self._read: list[PartSummary] = []
        self._first_line = 0

    def report(self, files: Iterable[MeasuredFile], progress: Progress) -> tuple[Report, Summary]:
        """Put all files together, then the report."""
        if isinstance(self._decision, BatchRule):
            raise InvalidRequestError(f"{self._decision.syntax} is decided over all files together")
        done = 0
        with ExitStack() as stack:
            path = self._run.options.predictions
            lines = stack.enter_context(path.open("wb")) if path else None
            for file in files:
                self._merge(file)
                if lines is not None:
                    lines.write(part(file.tally, "predictions")["lines"].tobytes())
                done += file.about["documents"]
                progress("evaluate", done, 0)
        summary = whole_summary(self._read)
        return self._run.assembled(self._run.context(self._decision), summary), summary

    def _merge(self, file: MeasuredFile) -> None:
        run, about = self._run, file.about
        columns = run.truth.merge(about["truth"])
        run.measurement.merge(part(file.tally, "measured"), columns, self._first_line)
        if run.drift is not None:
            run.drift.merge(part(file.tally, "drift"))
        run.seen += about["seen"]
        for stage, seconds in about["seconds"].items():
            run.seconds[stage] += seconds
        _abstain(self._decision, about["abstained"])
        self._read.append(PartSummary(**about["summary"]))
        self._first_line += self._read[-1].last_line


def _abstain(decision: Any, counts: list[int]) -> None:
    if isinstance(decision, Abstaining):
        decision.assigned += counts[0]
        decision.held_back += counts[1]
