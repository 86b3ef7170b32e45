"""Pairs of document and label ranked by suspicion, in a process that measures itself.

    python scripts/studies/noise_ranking.py SYSTEM INPUT.npz OUTPUT.npz

SYSTEM: labelserve, or one of cleanlab's: cleanlab (its default), cleanlab-adjusted, cleanlab-filter
(which decides how many are faults; needs an environment with cleanlab). INPUT: `scores`, the
calibration's arrays, `probabilities` and `given`. Prints CPU seconds, and the memory in MB above
that of the input, as JSON; writes a suspicion for every pair (-inf: not ranked).
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

CALIBRATION = ("slopes", "intercepts", "offsets", "knot_scores", "knot_probabilities")


def labelserve(given: dict[str, Any]) -> Callable[[], Any]:
    """Ours, from held-out scores and calibration."""
    from scipy.sparse import csc_array

    from app.decisions.calibration.calibration import Calibration
    from app.evaluation.suspects.co_occurrence import CoOccurrence
    from app.evaluation.suspects.evidence import evidence, frequencies
    from app.evaluation.suspects.held_out import held_out_pairs
    from app.heldout import HeldOut

    held_out = HeldOut.of(given["scores"], csc_array(given["given"]))
    calibration = Calibration(*(given[name] for name in CALIBRATION))
    del given["probabilities"]

    def rank() -> Any:
        pairs = held_out_pairs(held_out, calibration)
        together = CoOccurrence.of(held_out.truth)
        frequency = frequencies(together.documents, held_out.n_documents)
        return pairs.document, pairs.label, evidence(pairs, frequency, together)

    return rank


def cleanlab(given: dict[str, Any], kind: str) -> Callable[[], Any]:
    """cleanlab's scores of every pair, turned round; or its choice of issues."""
    from cleanlab.multilabel_classification import filter, rank  # type: ignore[import-not-found]

    labels = [np.flatnonzero(row).tolist() for row in given["given"]]
    probabilities = given["probabilities"].astype(np.float64)
    del given["scores"], given["probabilities"]

    def issues() -> Any:
        filter.find_multilabel_issues_per_class(
            labels, probabilities, return_indices_ranked_by="self_confidence", n_jobs=1
        )
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0)

    def scores() -> Any:
        is_adjusted = kind == "cleanlab-adjusted"
        quality = rank.get_label_quality_scores_per_class(
            labels, probabilities, adjust_pred_probs=is_adjusted
        )
        return *np.indices(quality.shape).reshape(2, -1), -quality.ravel()

    return issues if kind == "cleanlab-filter" else scores


def memory(name: str) -> float:
    """A figure of /proc/self/status, in MB."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def main(system: str, source: str, target: str) -> None:
    """Rank, and say what it took."""
    given = dict(np.load(source))
    shape = given["given"].shape
    rank = labelserve(given) if system == "labelserve" else cleanlab(given, system)
    Path("/proc/self/clear_refs").write_text("5")  # the highest memory is counted from here on
    before, start = memory("VmRSS"), process_time()
    document, label, suspicion = rank()
    seconds, used = process_time() - start, memory("VmHWM") - before
    ranked = np.full(shape, -np.inf, np.float32)
    ranked[document, label] = suspicion
    np.save(target, ranked)
    print(json.dumps({"seconds": seconds, "megabytes": used}))


if __name__ == "__main__":
    main(*sys.argv[1:4])
