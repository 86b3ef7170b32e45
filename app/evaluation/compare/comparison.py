"""compare: two systems on the same documents, with the tests of Yang & Liu (1999)."""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.evaluation.answered_labels import answered_labels
from app.evaluation.chunks import TestDocument
from app.evaluation.compare.kept_comparison import RESAMPLES, Resampling, compared
from app.evaluation.kept.evaluation import opened
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.run import evaluate
from app.evaluation.scorer import Scorer
from app.progress import Progress, silent


@dataclass(frozen=True)
class System:
    """What is compared: a scorer, what is known of it, and how its documents are opened."""

    scorer: Scorer
    info: JudgedModel
    documents: Callable[[], Iterable[TestDocument]]


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
    resampling = Resampling(options.bootstrap or RESAMPLES, options.seed)
    options = replace(options, bootstrap=0)
    if answered_labels(a.scorer).names != answered_labels(b.scorer).names:
        options = replace(options, include_test_labels=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        reports = {}
        for name, system in (("a", a), ("b", b)):
            own = replace(options, keep=Path(folder) / name)
            reports[name] = _report(system, own, progress, scratch)
        with opened(Path(folder) / "a") as first, opened(Path(folder) / "b") as second:
            return {**reports, **compared(first, second, resampling)}


def _report(
    system: System, options: EvaluationOptions, progress: Progress, scratch: Path | None
) -> dict[str, Any]:
    documents = system.documents()
    report = evaluate(
        system.scorer, documents, options, info=system.info, progress=progress, scratch=scratch
    )
    return report.as_dict()
