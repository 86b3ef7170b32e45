"""Writes one benchmark's part of docs/benchmarks.md, leaving the others as they are."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def write_section(name: str, markdown: str) -> None:
    """Replace the section between the markers `<!-- name -->`, or add it at the end."""
    page = PAGE.read_text() if PAGE.exists() else "# Benchmarks\n"
    section = f"<!-- {name} -->\n{markdown.strip()}\n<!-- /{name} -->"
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
    if pattern.search(page):
        page = pattern.sub(lambda _: section, page)
    else:
        page = f"{page.rstrip()}\n\n{section}\n"
    PAGE.write_text(page)
