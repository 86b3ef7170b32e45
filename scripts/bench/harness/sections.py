"""What benchmarks leave behind: their parts of docs/benchmarks.md, and figures for the summary."""

import json
import re
from collections.abc import Container
from typing import Any

from bench.harness.environment import ROOT, WORK, is_quick, machine
from bench.harness.peers_venv import versions

PAGE = ROOT / "docs" / "benchmarks.md"
FIGURES = WORK / "figures.json"


def write_section(name: str, markdown: str) -> None:
    """Replace the section between the markers `<!-- name -->`, or add it at the end."""
    if is_quick():
        return
    page = PAGE.read_text() if PAGE.exists() else "# Benchmarks\n"
    section = f"<!-- {name} -->\n{markdown.strip()}\n<!-- /{name} -->"
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
    if pattern.search(page):
        page = pattern.sub(lambda _: section, page)
    else:
        page = f"{page.rstrip()}\n\n{section}\n"
    PAGE.write_text(page)


def footer(command: str, peers: Container[str] | None = None) -> str:
    """A section's last line: the machine, the versions of all or some peers, and the command."""
    chosen = [f"{k} {v}" for k, v in versions().items() if peers is None or k in peers]
    return f"{machine()}; {', '.join(chosen)}. Reproduce: `{command}`."


def keep_figures(name: str, figures: dict[str, Any]) -> None:
    """Keep a benchmark's figures for the summary at the top of the page."""
    if is_quick():
        return
    kept = kept_figures()
    kept[name] = figures
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(kept, indent=1))


def kept_figures() -> dict[str, Any]:
    """The figures of every benchmark that has run."""
    found: dict[str, Any] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    return found
