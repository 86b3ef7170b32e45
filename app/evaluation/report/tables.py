"""A report as rows of short strings: tables that fit 100 columns.

Titles, and which figures are headlines, are read from the catalogue of metrics.
"""

from typing import Any, NamedTuple

from app.metrics.base import decision_metrics, measures, ranking_metrics
from app.metrics.counting.averages import label_measures

AVERAGES = ("micro", "macro", "macro_in_test", "weighted", "samples")
LABEL_COUNTS = ("support", "tp", "fp", "fn")
COSTS = {
    "total": "cost",
    "per_document": "cost a document",
    "nothing": "cost of assigning nothing",
    "best_cuts": "cost of the best cuts here",
}
PARTITIONS = {
    "label_frequency": "labels by training documents",
    "document_labels": "documents by true labels",
    "document_length": "documents by length",
    "branch": "labels by top branch",
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
        *(
            _partition(title, report["partitions"].get(name, []))
            for name, title in PARTITIONS.items()
        ),
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
    """`5–9`, or `1000+` for a group without an end; a branch by its name.

    >>> span({"from": 5, "to": 9}), span({"from": 1000, "to": None}), span({"from": 1, "to": 1})
    ('5–9', '1000+', '1')
    """
    if "branch" in group:
        return "no branch" if group["branch"] is None else label_title(group["branch"], group)
    start, end = group["from"], group["to"]
    if end is None:
        return f"{start}+"
    return str(start) if start == end else f"{start}–{end}"


def label_title(label: str, known: dict[str, Any]) -> str:
    """A label as tables show it, with its name where there is one.

    >>> label_title("p10", {"name": "awareness"}), label_title("p10", {"name": None})
    ('p10 awareness', 'p10')
    """
    return f"{label} {known['name']}" if known.get("name") else label


def _decisions(report: dict[str, Any]) -> TableRows:
    decisions, titles = report["decisions"], measure_titles()
    rows = [
        [name.replace("_", " "), *(figure(decisions[name].get(measure)) for measure in titles)]
        for name in (*AVERAGES, "hierarchical")
        if name in decisions
    ]
    title = f"decisions on {report['data']['documents']:,} documents"
    return TableRows(title, ["average", *titles.values()], rows)


def measure_titles() -> dict[str, str]:
    """The heads of the measures' columns, by name."""
    return {name: measure.title or name for name, measure in measures().items()}


def headlines(ranking: dict[str, Any]) -> dict[str, str]:
    """The titles of the ranking figures that are shown first, by name; those at K last."""
    metrics = ranking_metrics()
    names = sorted((name for name in ranking if metric_name(name) in metrics), key=_is_at_k)
    return {
        name: metrics[metric_name(name)].title or name
        for name in names
        if metrics[metric_name(name)].is_headline
    }


def metric_name(figure_name: str) -> str:
    """The catalogue's name of a ranking figure.

    >>> metric_name("P@10"), metric_name("lrap")
    ('P@K', 'lrap')
    """
    name, at, _ = figure_name.rpartition("@")
    return f"{name}@K" if at else figure_name


def _is_at_k(name: str) -> bool:
    return "@" in name


def _ranking(ranking: dict[str, Any]) -> TableRows:
    """A row for each K, a column for each metric at K."""
    at_k = [name.split("@") for name in ranking if _is_at_k(name)]
    names, ks = dict.fromkeys(name for name, _ in at_k), dict.fromkeys(k for _, k in at_k)
    rows = [[f"K = {k}", *(figure(ranking[f"{name}@{k}"]) for name in names)] for k in ks]
    return TableRows("ranking", ["", *(f"{name}@K" for name in names)], rows)


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
    """All intervals of decisions, and those of the ranking's headlines."""
    metrics, first = ranking_metrics(), headlines(confidence)
    shown = [name for name in confidence if name in first or metric_name(name) not in metrics]
    rows = [[name, *map(figure, confidence[name])] for name in shown]
    return TableRows("95 % intervals", ["figure", "from", "to"], rows)


def single_figures(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Figures that stand alone: titles and values."""
    decisions, ranking = report["decisions"], report["ranking"]
    return [
        *((title, figure(report["costs"][name])) for name, title in _cost_titles(report)),
        *_titled(decisions, {name: one.title for name, one in decision_metrics().items()}),
        ("break-even", _point(decisions["break_even"])),
        ("break-even, a cut a label", _point(decisions["break_even_per_label"])),
        ("calibration error", figure(report["calibration"]["ece"])),
        *_titled(
            {name: value for name, value in ranking.items() if not _is_at_k(name)},
            {name: one.title for name, one in ranking_metrics().items()},
        ),
    ]


def _cost_titles(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The figures of costs, where there are any."""
    return list(COSTS.items()) if "costs" in report else []


def _point(point: dict[str, float]) -> str:
    return f"{figure(point['value'])} (gap {figure(point['gap'])})"


def _titled(figures: dict[str, Any], titles: dict[str, str]) -> list[tuple[str, str]]:
    """The figures that have a title and are single numbers."""
    return [
        (titles[name] or name.replace("_", " "), figure(value))
        for name, value in figures.items()
        if name in titles and not isinstance(value, list | dict)
    ]


def label_rows(report: dict[str, Any], n: int) -> TableRows:
    """The n labels with the most errors, or whose errors cost most."""
    columns = ["label", *LABEL_COUNTS, *label_measures()]
    errors, title = (lambda label: label["fp"] + label["fn"]), "labels with the most errors"
    if "costs" in report:
        errors, title = (lambda label: label["cost"]), "labels with the highest cost"
        columns.append("cost")
    worst = sorted(report["labels"], key=errors, reverse=True)
    rows = [
        [label_title(one["label"], one), *(figure(one[name]) for name in columns[1:])]
        for one in worst[:n]
    ]
    return TableRows(title, columns, rows)


def suspect_rows(report: dict[str, Any], n: int) -> TableRows:
    """The n most suspect labels of the data; no rows where none were asked for."""
    columns = ["label", "kind", "id", "line", "probability"]
    rows = [
        [one["label"], one["kind"], one["id"] or "", str(one["line"]), figure(one["probability"])]
        for one in report.get("suspects", [])[:n]
    ]
    return TableRows("labels that are probably missing or wrong", columns, rows)
