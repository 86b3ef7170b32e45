"""The plain tables and lists of the report's page; every name is escaped."""

from html import escape
from typing import Any

from app.evaluation.report.tables import (
    PARTITIONS,
    TableRows,
    figure,
    headlines,
    single_figures,
    span,
    suspect_rows,
)

SHOWN_SUSPECTS = 50
CARDS = {
    "micro-F1": "micro.f1",
    "macro-F1, all labels": "macro.f1",
    "macro-F1, in test": "macro_in_test.f1",
    "micro-precision": "micro.precision",
    "micro-recall": "micro.recall",
    "all labels right": "subset_accuracy",
}


def headline(report: dict[str, Any]) -> str:
    """Cards with the headline figures, and their intervals where there are any."""
    ranking = {title: name for name, title in headlines(report["ranking"]).items()}
    cards = {**CARDS, **ranking}
    confidence = report["confidence"]
    items = "".join(
        _card(title, _value(report, name), confidence.get(name)) for title, name in cards.items()
    )
    return f"<ul class='cards'>{items}</ul>"


def html_table(rows: TableRows) -> str:
    """TableRows of strings as a table."""
    head = "".join(f"<th>{escape(column)}</th>" for column in rows.columns)
    body = "".join(_row(row) for row in rows.rows)
    return (
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def partitions(groups: dict[str, list[dict[str, Any]]]) -> str:
    """One table for each way to group labels or documents."""
    parts = []
    for name, title in PARTITIONS.items():
        columns = ["group", "labels", "documents", "macro-F1", "LRAP", "P@1", "micro-F1"]
        body = "".join(_group(group) for group in groups.get(name, ()))
        head = "".join(f"<th>{column}</th>" for column in columns)
        if body:
            parts.append(
                f"<h2>{title.capitalize()}</h2><div class='scroll'><table><thead><tr>{head}</tr>"
                f"</thead><tbody>{body}</tbody></table></div>"
            )
    return "".join(parts)


def confused(pairs: list[dict[str, Any]]) -> str:
    """Labels that were missed where another was wrongly assigned."""
    if not pairs:
        return ""
    body = "".join(
        f"<tr><td class='text missed'>{escape(one['label'])}</td>"
        f"<td class='text wrong'>{escape(one['taken_for'])}</td><td>{one['documents']:,}</td></tr>"
        for one in pairs[:25]
    )
    return (
        "<h2>Most confused labels</h2><div class='scroll'><table><thead><tr><th>missed</th>"
        "<th class='text'>wrongly assigned instead</th><th>documents</th></tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def worst(documents: list[dict[str, Any]]) -> str:
    """The documents to look at first, by id; no text is in the page."""
    if not documents:
        return ""
    body = "".join(
        f"<tr><td class='text'>{escape(one['id'])}</td><td>{one['errors']}</td>"
        + "".join(
            f"<td class='text {kind}'>{escape(', '.join(one[kind]))}</td>"
            for kind in ("missed", "wrong", "right")
        )
        + "</tr>"
        for one in documents
    )
    return (
        "<h2>Worst documents</h2><div class='scroll'><table><thead><tr><th>document</th>"
        "<th>errors</th><th class='text'>missed</th><th class='text'>wrongly assigned</th>"
        f"<th class='text'>right</th></tr></thead><tbody>{body}</tbody></table></div>"
    )


def suspects(report: dict[str, Any]) -> str:
    """The first labels that are probably missing or wrong in the test set."""
    rows = suspect_rows(report, SHOWN_SUSPECTS)
    return f"<h2>{rows.title.capitalize()}</h2>{html_table(rows)}" if rows.rows else ""


def facts(report: dict[str, Any]) -> str:
    """Everything else: single figures, how it was counted, and what the data were."""
    lines = [
        *single_figures(report),
        *((f"counted: {name}", str(value)) for name, value in report["conventions"].items()),
        *(
            (f"data: {name}".replace("_", " "), str(value))
            for name, value in report["data"].items()
            if name != "skipped_lines"
        ),
    ]
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in lines)
    return f"<h2>More figures, and how it was counted</h2><dl class='card'>{items}</dl>"


def _value(report: dict[str, Any], name: str) -> float | None:
    """A figure by the name it has in `confidence`."""
    average, _, measure = name.partition(".")
    if measure:
        value = report["decisions"][average][measure]
    else:
        value = {**report["ranking"], **report["decisions"]}[name]
    return None if value is None else float(value)


def _card(title: str, value: float | None, interval: list[float] | None) -> str:
    between = "{:.4f} – {:.4f}".format(*interval) if interval and None not in interval else ""
    return f"<li><span>{escape(title)}</span><b>{figure(value)}</b><small>{between}</small></li>"


def _row(cells: list[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _group(group: dict[str, Any]) -> str:
    decisions, ranking = group["decisions"], group["ranking"]
    f1 = decisions["micro"]["f1"] or 0.0
    cells = [
        span(group),
        figure(group["labels"]),
        figure(group["documents"]),
        figure(decisions["macro"]["f1"]),
        figure(ranking["lrap"]),
        figure(1 - ranking["one_error"]),
    ]
    bar = (
        f"<span class='bar' style='width:{60 * f1:.0f}px;margin-right:{60 - 60 * f1:.0f}px'></span>"
    )
    plain = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr>{plain}<td>{figure(decisions['micro']['f1'])}{bar}</td></tr>"
