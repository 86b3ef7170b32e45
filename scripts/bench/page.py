"""The page: how long a person waits for the first answer and for each further one, by Chromium.

Three models: the demo model, a made-up one of 5,460 labels, and one trained on arxiv-msc-20k (5,460
labels of mathematics), where that corpus is there.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import ROOT, data_folder, is_quick, machine
from bench.harness.processes import free_ports
from bench.harness.sections import keep_figures, write_section
from bench.harness.server_process import replica
from soak.wide_model import store_wide

N_LABELS = 5460
TURNS = 3 if is_quick() else 20
ARXIV = "arxiv-msc-20k"
WORDS = "refund paper money parcel camera update theorem space graph group"
WATCH = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({ type: "longtask", buffered: true });
"""
TYPE = """
(text) => new Promise((resolve) => {
  const list = document.querySelector(".bars").parentNode;
  const begun = performance.now();
  new MutationObserver((_, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => resolve(performance.now() - begun));
  }).observe(list, { childList: true });
  const field = document.querySelector("textarea");
  field.value = text;
  field.dispatchEvent(new Event("input"));
})
"""
"""Milliseconds from the last key to the labels drawn, the pause for more keys included."""


def main() -> None:
    """Measure, print and write the section `page`."""
    with tempfile.TemporaryDirectory() as folder:
        models = make_models(Path(folder))
        service = replica(models, free_ports(1)[0], Path(folder))
        service.start()
        try:
            service.wait_until_ready()
            names = sorted(path.name for path in models.iterdir())
            found = {name: measured(service.port, name) for name in names}
        finally:
            service.end()
    text = section(found)
    print(text)
    write_section("page", text)
    keep_figures("page", found)


def make_models(folder: Path) -> Path:
    """A models folder with the models of the benchmark."""
    run("make_demo.py", str(folder / "demo"))
    train(folder, "demo", folder / "demo" / "train.jsonl")
    store_wide(folder / "models", N_LABELS)
    corpus = data_folder() / ARXIV / "train.txt.gz"
    if corpus.exists() and not is_quick():
        train(folder, ARXIV, corpus)
    return folder / "models"


def train(folder: Path, name: str, data: Path) -> None:
    """Train a model by the product's own command."""
    models = f"--models-dir={folder / 'models'}"
    run("train.py", str(data), f"--model={name}", "--quality=fast", models)


def run(script: str, *arguments: str) -> None:
    """Run a script of the product."""
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def measured(port: int, model: str) -> dict[str, float]:
    """Milliseconds to the first answer of a new tab, to further ones, and of the longest task."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_init_script(WATCH)
        first = first_answer(page, f"http://127.0.0.1:{port}/#/try?model={model}")
        words = WORDS.split()
        further = [page.evaluate(TYPE, " ".join(words[: 2 + n % 8])) for n in range(TURNS)]
        figures = {
            "first": first,
            "further": statistics.median(further),
            "longest_task": page.evaluate("window.longest"),
            "nodes": page.locator("*").count(),
        }
        browser.close()
    return figures


def first_answer(page: Any, address: str) -> float:
    """Milliseconds from the start of the navigation to labels on the page."""
    page.goto(address, wait_until="commit")
    page.get_by_role("textbox", name="Text").fill(WORDS)
    page.locator(".bar-row").first.wait_for()
    return float(page.evaluate("performance.now()"))


def section(found: dict[str, dict[str, float]]) -> str:
    """The section in Markdown."""
    rows = [
        f"| {name} | {figures['first']:.0f} | {figures['further']:.0f} | "
        f"{figures['longest_task']:.0f} | {figures['nodes']:.0f} |"
        for name, figures in found.items()
    ]
    return "\n".join(
        [
            "## The page",
            "",
            "Milliseconds in Chromium: from opening the page to the first labels, typing included "
            "(aim: 2,000); from the last key to the labels drawn, of which 120 are the pause in "
            "which another key may come (aim: 100 beyond it); the longest task of the main thread "
            "(aim: 100; 0: none over 50). Nodes of the page at the end.",
            "",
            "| model | first answer | further ones, median | longest task | nodes |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"`.venv/bin/python scripts/bench/page.py` ({machine()})",
        ]
    )


if __name__ == "__main__":
    main()
