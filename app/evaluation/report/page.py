"""page: a report as one self-contained HTML page; it asks for nothing from anywhere."""

import json
from html import escape
from importlib import resources
from typing import Any

from app.evaluation.report import svg
from app.evaluation.report.page_tables import (
    confused,
    facts,
    headline,
    html_table,
    partitions,
    suspects,
    worst,
)
from app.evaluation.report.report import Report
from app.evaluation.report.tables import label_title, measure_titles, tables
from app.metrics.base import label_metrics
from app.metrics.counting.averages import label_measures

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
COUNT_COLUMNS = {
    "label": "label",
    "training_documents": "trained",
    "support": "support",
    "tp": "TP",
    "fp": "FP",
    "fn": "FN",
}
ONLY_WIDE = ("training_documents", "tp", "fp", "fn", "threshold")


def page(report: Report) -> str:
    """The whole page."""
    figures = report.as_dict()
    name = f"{figures['model']}@{figures['version']}".strip("@") or "report"
    data = figures["data"]
    under = (
        f"{data['documents']:,} documents · {data['labels']:,} labels · decision {report.decision}"
    )
    content = "".join(
        (
            f"<h1>{escape(name)}</h1><p class='under'>{escape(under)}</p>",
            _warnings(figures["warnings"]),
            headline(figures),
            _diagrams(figures),
            "".join(f"<h2>{escape(t.title)}</h2>{html_table(t)}" for t in tables(figures)[:2]),
            _labels(figures["labels"]),
            partitions(figures["partitions"]),
            confused(figures["most_confused"]),
            worst(figures["worst_documents"]),
            suspects(figures),
            facts(figures),
        )
    )
    return document(name, content)


def document(name: str, content: str) -> str:
    """A page around the content: it brings its style and script, and fetches nothing."""
    css, script = (_file(f"page.{kind}") for kind in ("css", "js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(name)} · labelserve report</title><style>{css}</style></head>"
        f"<body><main>{content}</main><script>{script}</script></body></html>\n"
    )


def _warnings(sentences: list[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul class='warnings'>{items}</ul>" if items else ""


def _diagrams(figures: dict[str, Any]) -> str:
    key = (
        "<div class='key'><i style='background:var(--micro)'></i>micro"
        "<i style='background:var(--macro)'></i>macro (in test) · ◆ the decision</div>"
    )
    titled = [
        ("Precision and recall", svg.pr_curves(figures["curves"], figures["decisions"]) + key)
    ]
    if figures["calibration"]["bins"]:
        titled.append(("Calibration", svg.reliability(figures["calibration"]["bins"])))
    if figures["risk_coverage"]:
        titled.append(("Risk and coverage", svg.risk_coverage(figures["risk_coverage"])))
    diagrams = "".join(
        f"<figure class='card'><figcaption>{title}</figcaption>{content}</figure>"
        for title, content in titled
    )
    return f"<h2>Curves</h2><div class='figures'>{diagrams}</div>"


def _labels(labels: list[dict[str, Any]]) -> str:
    """The table's frame, and its rows as data: the page draws those in view."""
    columns, only_wide = _label_columns(), (*ONLY_WIDE, *label_metrics())
    columns |= {"cost": "cost"} if labels and "cost" in labels[0] else {}
    heads = "".join(
        f"<th class='{'wide' * (name in only_wide)}'><button type='button'>{title}</button></th>"
        for name, title in columns.items()
    )
    rows = [
        [label_title(one["label"], one), *(_short(one[name]) for name in list(columns)[1:])]
        for one in labels
    ]
    data = json.dumps(
        {"columns": list(columns), "rows": rows}, ensure_ascii=False, separators=(",", ":")
    )
    return (
        "<h2>Labels</h2><div class='tools'><input id='search' type='search' "
        "placeholder='Find a label' aria-label='Find a label'><output id='count'></output></div>"
        f"<div id='labels' class='scroll' tabindex='0'><table><thead><tr>{heads}</tr></thead>"
        f"<tbody></tbody></table></div><script id='label-data' type='application/json'>"
        f"{data.replace('<', chr(92) + 'u003c')}</script>"
    )


def _label_columns() -> dict[str, str]:
    """The columns of the label table: names in the report, and heads."""
    titles = measure_titles()
    return {
        **COUNT_COLUMNS,
        **{name: titles[name] for name in label_measures()},
        **{name: metric.title or name for name, metric in label_metrics().items()},
        "threshold": "cut",
    }


def _short(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _file(name: str) -> str:
    return resources.files("app.evaluation.report").joinpath(name).read_text(encoding="utf-8")
