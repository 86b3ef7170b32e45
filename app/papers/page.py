"""The papers' tables as one self-contained HTML page, with their figures."""

from collections.abc import Sequence
from html import escape

from app.evaluation.report.page import document
from app.evaluation.report.page_tables import html_table
from app.evaluation.report.tables import TableRows
from app.papers.rows import COLUMNS, PaperTable, shown


def papers_page(tables: Sequence[PaperTable]) -> str:
    """The whole page."""
    under = "What was published, and what this code gives on the same or nearest data."
    content = f"<h1>The papers' tables</h1><p class='under'>{under}</p>"
    return document("The papers' tables", content + "".join(map(_table, tables)))


def _table(table: PaperTable) -> str:
    rows = TableRows(table.title, COLUMNS, [shown(row) for row in table.rows])
    notes = "".join(f"<p class='under'>{escape(note)}</p>" for note in table.notes)
    figures = "".join(
        f"<figure class='card'><figcaption>{escape(title)}</figcaption>{svg}</figure>"
        for title, svg in table.figures.items()
    )
    heading = f"<h2>{escape(table.title)}</h2>"
    return f"{heading}{html_table(rows)}{notes}<div class='figures'>{figures}</div>"
