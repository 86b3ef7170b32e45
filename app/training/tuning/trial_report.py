"""The table of trials of a tuning, as JSON and as a page: quality against CPU and size."""

from collections.abc import Sequence
from html import escape
from typing import Any

from app.training.search.search import Searched
from app.training.search.trial import Trial

WIDTH, HEIGHT, MARGIN = 640, 320, 48
STYLE = (
    "body{font:15px/1.4 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right}"
    "td:first-child,th:first-child{text-align:left}tr.best{font-weight:600}"
    "circle{fill:#3366aa;fill-opacity:.6}circle.best{fill:#cc5522;fill-opacity:1}"
    "text{font-size:12px}"
)


def trial_rows(searched: Searched) -> list[dict[str, Any]]:
    """Every trial: its rung, figures, CPU seconds and columns of features."""
    return [
        {"rung": rung, **trial.figures(), "cpu_seconds": round(trial.seconds, 2)}
        for rung, trials in enumerate(searched.all_trials, start=1)
        for trial in trials
    ]


def trials_page(name: str, searched: Searched) -> str:
    """The same as one HTML file, without any outside request."""
    last = searched.all_trials[-1]
    best = searched.figures["winner"]["name"]
    body = [
        f"<h1>{escape(name)}: {len(trial_rows(searched))} trials</h1>",
        f"<p>Best: {escape(best)}. On the folds {searched.figures['value']:.4f}, corrected for the "
        f"choice {searched.figures['corrected']:.4f}.</p>",
        _plot(last, best, "CPU seconds of the candidate", [trial.seconds for trial in last]),
        _plot(last, best, "columns of features", [float(trial.n_features) for trial in last]),
        _table(trial_rows(searched), best),
    ]
    head = f'<meta charset="utf-8"><title>{escape(name)}</title><style>{STYLE}</style>'
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(body)}</body></html>\n"


def _plot(trials: Sequence[Trial], best: str, across: str, places: Sequence[float]) -> str:
    """A point a trial of the last rung, micro-F1 upwards."""
    values = [trial.figures()["micro_f1"] for trial in trials]
    low, high, right = min(values), max(values), max(places) or 1.0
    span = max(high - low, 1e-4)
    points = []
    for trial, place, value in zip(trials, places, values, strict=True):
        x = MARGIN + place / right * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - (value - low) / span * (HEIGHT - 2 * MARGIN)
        kind = ' class="best"' if trial.title == best else ""
        title = escape(f"{trial.title}: {value:.4f}, {place:g}")
        points.append(
            f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{title}</title></circle>'
        )
    labels = (
        f'<text x="4" y="{MARGIN}">{high:.4f}</text><text x="4" y="{HEIGHT - MARGIN}">{low:.4f}'
        f'</text><text x="{WIDTH - MARGIN}" y="{HEIGHT - 28}" text-anchor="end">{right:g}</text>'
        f'<text x="{MARGIN}" y="{HEIGHT - 8}">micro-F1 against {escape(across)}</text>'
    )
    return f'<svg width="{WIDTH}" height="{HEIGHT}">{"".join(points)}{labels}</svg>'


def _table(rows: Sequence[dict[str, Any]], best: str) -> str:
    names = ("name", "rung", "micro_f1", "macro_f1", "cpu_seconds", "features")
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    ordered = sorted(rows, key=lambda row: (-row["rung"], -row["micro_f1"]))
    body = "".join(
        f"<tr{' class=best' if row['name'] == best else ''}>"
        + "".join(f"<td>{escape(_cell(row[name]))}</td>" for name in names)
        + "</tr>"
        for row in ordered
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if value < 1 else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
