"""A report as rows of short strings: tables that fit 100 columns."""

from typing import Any, NamedTuple

AVERAGES = ("micro", "macro", "macro_in_test", "weighted", "samples")
MEASURES = ("precision", "recall", "f1", "fbeta", "overlap", "fallout", "accuracy", "error")
SHORT = ("prec.", "recall", "F1", "Fβ", "overlap", "fallout", "acc.", "error")
AT_K = ("P", "R", "RP", "NDCG", "PSP", "PSnDCG")
WHOLE = ("eleven_point", "lrap", "mrr", "one_error", "coverage_error", "ranking_loss")
PARTITIONS = {
    "label_frequency": "labels by training documents",
    "document_labels": "documents by true labels",
    "document_length": "documents by length",
}


class TableRows(NamedTuple):
    """A table: the first column is text, the others are figures."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def tables(report: dict[str, Any]) -> list[TableRows]:
    """Everything but the labels, the most important first."""
    return [
        _decisions(report),
        _ranking(report["ranking"]),
        *(_partition(title, report["partitions"][name]) for name, title in PARTITIONS.items()),
        _intervals(report["confidence"]),
    ]


def figure(value: Any) -> str:
    """Four decimals, whole numbers as they are, a dash for what is not defined.

    >>> figure(0.5), figure(1200), figure(None)
    ('0.5000', '1,200', '–')
    """
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def span(group: dict[str, Any]) -> str:
    """`5–9`, or `1000+` for a group without an end.

    >>> span({"from": 5, "to": 9}), span({"from": 1000, "to": None}), span({"from": 1, "to": 1})
    ('5–9', '1000+', '1')
    """
    start, end = group["from"], group["to"]
    if end is None:
        return f"{start}+"
    return str(start) if start == end else f"{start}–{end}"


def _decisions(report: dict[str, Any]) -> TableRows:
    found = report["decisions"]
    rows = [
        [name.replace("_", " "), *(figure(found[name][m]) for m in MEASURES)] for name in AVERAGES
    ]
    title = f"decisions on {report['data']['documents']:,} documents"
    return TableRows(title, ["average", *SHORT], rows)


def _ranking(ranking: dict[str, Any]) -> TableRows:
    ks = [name.removeprefix("P@") for name in ranking if name.startswith("P@")]
    rows = [[f"K = {k}", *(figure(ranking[f"{name}@{k}"]) for name in AT_K)] for k in ks]
    return TableRows("ranking", ["", *(f"{name}@K" for name in AT_K)], rows)


def _partition(title: str, groups: list[dict[str, Any]]) -> TableRows:
    columns = [title, "labels", "documents", "micro-F1", "macro-F1", "lrap", "mrr"]
    rows = [
        [
            span(group),
            figure(group["labels"]),
            figure(group["documents"]),
            figure(group["decisions"]["micro"]["f1"]),
            figure(group["decisions"]["macro"]["f1"]),
            figure(group["ranking"]["lrap"]),
            figure(group["ranking"]["mrr"]),
        ]
        for group in groups
    ]
    return TableRows("", columns, rows)


def _intervals(confidence: dict[str, Any]) -> TableRows:
    shown = [name for name in confidence if name.startswith(("m", "s", "P@", "NDCG@", "lrap"))]
    rows = [[name, *map(figure, confidence[name])] for name in shown]
    return TableRows("95 % intervals", ["figure", "from", "to"], rows)


def single_figures(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Figures that stand alone."""
    decisions, ranking = report["decisions"], report["ranking"]
    found = [(name.replace("_", " "), figure(ranking[name])) for name in WHOLE]
    point = decisions["break_even"]
    return [
        ("subset accuracy", figure(decisions["subset_accuracy"])),
        ("macro*-F1", figure(decisions["macro_star_f1"])),
        ("break-even", f"{figure(point['value'])} (gap {figure(point['gap'])})"),
        ("calibration error", figure(report["calibration"]["ece"])),
        *found,
    ]
