"""Warnings that save people: what to know before quoting a figure of the report."""

import math
from typing import Any

from app.evaluation.measure.columns import ErrorBounds

MANY_UNLABELLED = 0.1
FEW_DOCUMENTS = 5


def cautions(report: dict[str, Any], unreported: dict[str, Any]) -> list[str]:
    """Plain sentences; `unreported` holds what the report has no place for."""
    sentences = [
        *_data(report["data"]),
        _unlabelled(report["data"], report["conventions"]["unlabelled"] == "drop"),
        *_labels(report["labels"]),
        _rejector(report["decisions"]),
        _abstained(unreported.get("held_back", 0), unreported.get("assigned", 0)),
        _approximated(unreported.get("error")),
        _hidden(unreported.get("hidden_pairs", 0)),
        _drifted(report.get("drift", [])),
        *unreported.get("other", ()),
    ]
    return [sentence for sentence in sentences if sentence]


def _data(data: dict[str, Any]) -> list[str]:
    n = data["documents"]
    sentences = []
    if data["seen_in_training"]:
        sentences.append(
            f"{data['seen_in_training']} of {n} documents were in the training data: "
            "the figures are too good"
        )
    if not data["pairs"]:
        sentences.append("no document has a label that the model knows: no figure means anything")
    if data["zero_shot_pairs"]:
        share = data["zero_shot_pairs"] / (data["pairs"] + data["zero_shot_pairs"])
        sentences.append(
            f"{data['zero_shot_labels']} labels ({data['zero_shot_pairs']} pairs, {share:.1%}) "
            "occur in no training document; see conventions.labels for whether they count"
        )
    if data["skipped"]:
        sentences.append(f"{data['skipped']} records could not be read and were skipped")
    return sentences


def _unlabelled(data: dict[str, Any], are_dropped: bool) -> str:
    """Dropped documents are not among `documents`: the share is of all that were read."""
    n = data["unlabelled"]
    share = n / max(data["documents"] + (n if are_dropped else 0), 1)
    if share <= MANY_UNLABELLED:
        return ""
    unlabelled = f"{n} documents ({share:.0%}) have no label"
    if are_dropped:
        return f"{unlabelled} and were left out: the figures say nothing of such documents"
    return (
        f"{unlabelled}; counted as documents without any true label they spoil the figures "
        "(Yang 1999): consider unlabelled=drop"
    )


def _labels(labels: list[dict[str, Any]]) -> list[str]:
    few = sum(1 for label in labels if label["support"] < FEW_DOCUMENTS)
    if not few:
        return []
    return [
        f"macro-F1 rests on {few} of {len(labels)} labels with fewer than {FEW_DOCUMENTS} test "
        "documents each"
    ]


def _rejector(decisions: dict[str, Any]) -> str:
    accuracy, rejector = decisions["micro"]["accuracy"], decisions["rejector_accuracy"]
    if accuracy is None or rejector is None:
        return ""
    return (
        f"accuracy {accuracy:.4f} means little: assigning no label at all would get {rejector:.4f}"
    )


def _abstained(held_back: int, assigned: int) -> str:
    if not held_back:
        return ""
    return (
        f"the model abstained on {held_back} of {assigned} assignments; they count as not assigned"
    )


def _hidden(pairs: int) -> str:
    if not pairs:
        return ""
    return f"{pairs} pairs of labels that the model never answers any more were left out"


def _drifted(drift: list[dict[str, Any]]) -> str:
    moved = [f"{one['measure']} (PSI {one['psi']:.2f})" for one in drift if one["is_drifted"]]
    if not moved:
        return ""
    return f"the documents differ from those held out in training, by {', '.join(moved)}"


def _approximated(error: ErrorBounds | None) -> str:
    if error is None:
        return ""
    labels = "".join(
        f"{name.replace('_', ' ')} is right to ± {_up(width)}, "
        for name, width in error.labels.items()
    )
    return (
        f"too many scores to keep: {labels}the curves may lie up to {_up(error.micro_f1)} below "
        f"the best micro-F1, break-even is right to ± {_up(error.break_even)}"
    )


def _up(value: float) -> str:
    """Four decimals, rounded up: a bound must not shrink."""
    return f"{math.ceil(value * 1e4) / 1e4:.4f}"
