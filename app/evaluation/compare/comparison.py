"""compare: two systems on the same documents, with the tests of Yang & Liu (1999)."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import InvalidDataError
from app.evaluation.chunks import TestDocument
from app.evaluation.compare.conclusions import conclusion
from app.evaluation.measure.measurement import Measurement
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.report import Report, json_safe
from app.evaluation.run import Run
from app.evaluation.scorer import Scorer
from app.metrics.contingency import f1
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.counting.pairs import TP
from app.metrics.significance.bootstrap import percentile_interval, two_sided_p
from app.metrics.significance.paired_tests import (
    macro_sign_test,
    micro_sign_test,
    paired_t_test,
    sign_test,
)
from app.progress import Progress, silent

BLOCK = 4096
RESAMPLES = 1000


@dataclass(frozen=True)
class System:
    """What is compared: a scorer, what is known of it, and how its documents are opened."""

    scorer: Scorer
    info: JudgedModel
    documents: Callable[[], Iterable[TestDocument]]


@dataclass
class Judged:
    """A system's report, and its decisions on disk."""

    report: Report
    measurement: Measurement
    names: list[str]

    def errors(self, width: int, columns: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The wrong decisions of each block of documents as document·width + common column."""
        assert self.measurement.pairs is not None  # noqa: S101 - for the type checker
        blocks = self.measurement.pairs.blocks(self.measurement.documents, BLOCK)
        for number, pairs in enumerate(blocks):
            wrong = pairs.take(pairs.kind != TP)
            yield (number * BLOCK + wrong.document) * width + columns[wrong.column]


def compare(
    a: System,
    b: System,
    options: EvaluationOptions | None = None,
    *,
    progress: Progress = silent,
    scratch: Path | None = None,
) -> dict[str, Any]:
    """Both reports, the tests, every label's win and loss, and a sentence of what follows.

    Where the two know different labels, labels known to one of them only count for both.
    """
    options = options or EvaluationOptions()
    resamples, options = options.bootstrap or RESAMPLES, replace(options, bootstrap=0)
    if a.scorer.labels.names != b.scorer.labels.names:
        options = replace(options, include_test_labels=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=scratch)))
        both = []
        for name, system in (("a", a), ("b", b)):
            (folder / name).mkdir()
            measurement = Measurement(
                system.scorer, options, system.info, folder / name, keeps_pairs=True
            )
            stack.enter_context(closing(measurement))
            both.append(_judged(system, options, measurement, progress))
        comparison: dict[str, Any] = json_safe(_compared(both[0], both[1], resamples))
        return comparison


def _judged(
    system: System, options: EvaluationOptions, measurement: Measurement, progress: Progress
) -> Judged:
    run = Run(system.scorer, measurement, options, system.info)
    return Judged(run.report(system.documents(), progress), measurement, run.truth.names)


def _compared(a: Judged, b: Judged, resamples: int) -> dict[str, Any]:
    if len(a.measurement.documents) != len(b.measurement.documents):
        raise InvalidDataError("the two systems were not measured on the same documents")
    names = sorted({*a.names, *b.names})
    position = {name: i for i, name in enumerate(names)}
    mine, theirs = (np.array([position[name] for name in one.names]) for one in (a, b))
    cells_a, cells_b = _common(a, mine, len(names)), _common(b, theirs, len(names))
    f1_a, f1_b = (f1(cells, Averaging()) for cells in (cells_a, cells_b))
    wins = np.zeros(2, np.int64)
    for wrong in zip(a.errors(len(names), mine), b.errors(len(names), theirs), strict=True):
        wins += micro_sign_test(*wrong)
    tests = {
        "micro_sign": sign_test(*wins.tolist())._asdict(),
        "macro_sign": macro_sign_test(f1_a, f1_b)._asdict(),
        "macro_t": paired_t_test(f1_a, f1_b)._asdict(),
        "bootstrap": _bootstrap(a, b, resamples),
    }
    reports = {"a": a.report.as_dict(), "b": b.report.as_dict()}
    support = np.maximum(cells_a.support, cells_b.support)
    labels = [
        {"label": name, "support": int(n), "f1_a": x, "f1_b": y, "difference": x - y}
        for name, n, x, y in zip(names, support, f1_a.tolist(), f1_b.tolist(), strict=True)
    ]
    comparison = {**reports, "tests": tests, "labels": labels}
    return {**comparison, "conclusion": conclusion(comparison)}


def _common(one: Judged, columns: NDArray[np.int64], width: int) -> Cells:
    """The system's tables in the common columns; a label it does not know is never assigned."""
    own = one.measurement.counts.cells(len(columns))
    tp, fp, fn = (np.zeros(width, np.int64) for _ in range(3))
    tp[columns], fp[columns], fn[columns] = own.tp, own.fp, own.fn
    return Cells(tp, fp, fn, len(one.measurement.documents) - tp - fp - fn)


def _bootstrap(a: Judged, b: Judged, resamples: int) -> dict[str, Any]:
    """For every headline figure: A − B, its 95 % interval and two-sided p.

    Averages over all labels are left out where the two know different labels: they would differ
    by the number of labels alone. Those over the labels in the test set stay.
    """
    first = a.measurement.resampled(len(a.names), resamples)
    second = b.measurement.resampled(len(b.names), resamples)
    tests = {}
    for name in first:
        if name.startswith("macro.") and sorted(a.names) != sorted(b.names):
            continue
        differences = first[name] - second[name]
        differences = differences[~np.isnan(differences)]
        if len(differences):
            low, high = percentile_interval(differences)
            tests[name] = {"interval": [low, high], "p": two_sided_p(differences)}
    return tests
