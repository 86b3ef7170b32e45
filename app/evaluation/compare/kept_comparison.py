"""compare_kept: two kept evaluations of the same documents, by the tests of Yang & Liu (1999)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.errors import InvalidDataError
from app.evaluation.compare.common_columns import (
    ComparedSystem,
    in_common_columns,
    zero_shot_counts,
)
from app.evaluation.compare.comparable import check_comparable
from app.evaluation.compare.conclusions import conclusion
from app.evaluation.compare.differing_documents import differing_documents
from app.evaluation.kept.evaluation import OpenedEvaluation, opened
from app.evaluation.kept.resampling import resampled_figures
from app.evaluation.report.report import json_safe
from app.metrics.contingency import f1
from app.metrics.counting.averages import micro
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.counting.pairs import TP
from app.metrics.significance.bootstrap import Values, percentile_interval, two_sided_p
from app.metrics.significance.paired_tests import (
    macro_sign_test,
    micro_sign_test,
    paired_t_test,
    sign_test,
)

RESAMPLES = 1000


@dataclass(frozen=True)
class Resampling:
    """How often the documents are drawn, and the seed of the draws."""

    resamples: int = RESAMPLES
    seed: int = 0


def compare_kept(a: Path, b: Path, resampling: Resampling | None = None) -> dict[str, Any]:
    """What `compare` finds, without the reports, of the evaluations kept in two folders."""
    with opened(a) as first, opened(b) as second:
        check_comparable(first.facts, second.facts)
        return compared(first, second, resampling or Resampling())


def compared(a: OpenedEvaluation, b: OpenedEvaluation, resampling: Resampling) -> dict[str, Any]:
    """The tests, every label's win and loss, a sentence of what follows, documents that differ."""
    if len(a.documents) != len(b.documents):
        raise InvalidDataError("the two systems were not measured on the same documents")
    one, other = in_common_columns((a, b), with_zero_shot=zero_shot_counts((a, b)))
    cells_a, cells_b = one.cells(), other.cells()
    f1_a, f1_b = (f1(cells, Averaging()) for cells in (cells_a, cells_b))
    tests = {
        "micro_sign": _micro_sign(one, other),
        "macro_sign": macro_sign_test(f1_a, f1_b)._asdict(),
        "macro_t": paired_t_test(f1_a, f1_b)._asdict(),
        "bootstrap": _bootstrap(one, other, resampling),
    }
    support = np.maximum(cells_a.support, cells_b.support).tolist()
    rows = zip(one.all_names, support, f1_a.tolist(), f1_b.tolist(), strict=True)
    micro_f1 = [_micro_f1(cells, a.facts.averaging) for cells in (cells_a, cells_b)]
    comparison = {
        "tests": tests,
        "labels": [
            {"label": name, "support": n, "f1_a": x, "f1_b": y, "difference": x - y}
            for name, n, x, y in rows
        ],
        "conclusion": conclusion(tests, (a.name, b.name), micro_f1),
        **differing_documents(a, b),
    }
    return json_safe(comparison)  # type: ignore[no-any-return]


def _micro_sign(a: ComparedSystem, b: ComparedSystem) -> dict[str, Any]:
    wins = np.zeros(2, np.int64)
    for blocks in zip(a.blocks(), b.blocks(), strict=True):
        wrong = (pairs.take(pairs.kind != TP) for pairs in blocks)
        wins += micro_sign_test(*(pairs.document * a.width + pairs.column for pairs in wrong))
    return sign_test(*wins.tolist())._asdict()


def _micro_f1(cells: Cells, averaging: Averaging) -> float:
    return micro(cells, averaging)["f1"] or 0.0


def _bootstrap(a: ComparedSystem, b: ComparedSystem, resampling: Resampling) -> dict[str, Any]:
    """For every headline figure: the 95 % interval of A − B and its two-sided p.

    Averages over all labels are left out where the two know different labels: they would differ
    by the number of labels alone. Those over the labels in the test set stay.
    """
    first, second = resampled_figures((a.counted, b.counted), resampling.resamples, resampling.seed)
    is_alike = sorted(a.names) == sorted(b.names)
    names = [name for name in first if is_alike or not name.startswith("macro.")]
    tests = {name: paired_test(first[name], second[name]) for name in names}
    return {name: test for name, test in tests.items() if test is not None}


def paired_test(first: Values, second: Values) -> dict[str, Any] | None:
    """The interval of a figure's difference and its p; None where it is never defined."""
    differences = first - second
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return None
    return {"interval": list(percentile_interval(differences)), "p": two_sided_p(differences)}
