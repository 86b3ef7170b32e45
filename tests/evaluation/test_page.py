"""The page for people: self-contained, escaped, and usable in a real browser at any size."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.report.page import page
from tests.evaluation.systems import Table, documents_of, made_up

NASTY = "</script><img src=x onerror=alert(1)>&\"'"


def nasty_page() -> str:
    system = Table(np.float32([[1, -1], [-1, 1]]), (NASTY, "wheat"))
    documents = documents_of([["wheat"], [NASTY]])
    return page(evaluate(system, documents, info=JudgedModel(NASTY, NASTY)))


def test_names_cannot_become_code() -> None:
    html = nasty_page()
    assert "<img" not in html
    assert html.count("</script>") == 2
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_the_page_asks_for_nothing_from_outside() -> None:
    html = nasty_page()
    assert not re.search(r"https?://|url\(|@import|<link|src=['\"]", html.replace("src=x", ""))
    assert "default-src 'none'" in html


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with thousands of labels."""
    rng = np.random.default_rng(0)
    names = tuple(sorted(f"label {number:04d}" for number in range(5666)))
    rows = rng.normal(size=(120, len(names))).astype(np.float32) - 2
    label_sets = [[names[c] for c in rng.integers(0, len(names), 5)] for _ in rows]
    report = evaluate(
        Table(rows, names),
        documents_of(label_sets),
        EvaluationOptions(bootstrap=5),
        info=JudgedModel("large", "1", rng.integers(0, 50, len(names)), 20_000),
    )
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(page(report), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("width", "scheme", "background"),
    [(1200, "light", "rgb(246, 247, 249)"), (390, "dark", "rgb(17, 21, 27)")],
)
def test_thousands_of_labels_can_be_searched_sorted_and_scrolled(
    browser: Any, large: Path, tmp_path: Path, width: int, scheme: str, background: str
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(large.as_uri())
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == background
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.locator("#count").inner_text() == "5,666 of 5,666 labels"
    assert tab.locator("#labels tbody tr").count() < 60
    tab.locator("#labels th button").first.click()
    assert tab.locator("#labels tbody tr:not(.space) td").first.inner_text() == "label 0000"
    tab.locator("#labels").evaluate("view => view.scrollTop = view.scrollHeight")
    tab.locator("#labels td", has_text="label 5665").wait_for(timeout=5000)
    tab.locator("#search").fill("LABEL 123")
    assert tab.locator("#count").inner_text() == "10 of 5,666 labels"
    shown = tab.locator("#labels tbody tr:not(.space) td:first-child").all_inner_texts()
    assert shown == [f"label 123{digit}" for digit in range(10)]
    picture = tab.screenshot(path=tmp_path / "report.png", full_page=True)
    assert len(picture) > 50_000
    assert said == []
    tab.close()


def test_nothing_runs_that_a_label_name_brings_along(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "nasty.html"
    file.write_text(nasty_page(), encoding="utf-8")
    tab = browser.new_page()
    said: list[str] = []
    tab.on("dialog", lambda dialog: said.append(dialog.message))
    tab.on("request", lambda request: said.append(request.url))
    tab.goto(file.as_uri())
    assert tab.locator("#labels td", has_text="onerror").count() == 1
    assert said == [file.as_uri()]
    tab.close()


def test_every_card_has_its_own_figure_and_interval() -> None:
    system, documents = made_up(60)
    report = evaluate(system, documents, EvaluationOptions(bootstrap=20))
    figures, html = report.as_dict(), page(report)
    assert [round(n, 4) for n in figures["confidence"]["micro.f1"]] != [
        round(n, 4) for n in figures["confidence"]["P@1"]
    ]
    for title, name, value in (
        ("micro-F1", "micro.f1", figures["decisions"]["micro"]["f1"]),
        ("LRAP", "lrap", figures["ranking"]["lrap"]),
        ("P@1", "P@1", figures["ranking"]["P@1"]),
    ):
        low, high = figures["confidence"][name]
        card = f"<span>{title}</span><b>{value:.4f}</b><small>{low:.4f} – {high:.4f}</small>"
        assert card in html


def test_the_worst_documents_are_those_with_the_lowest_f1_and_most_errors() -> None:
    system, documents = made_up(200)
    found = evaluate(system, documents).as_dict()["worst_documents"]
    keys = [(-one["f1"], one["errors"]) for one in found]
    assert keys == sorted(keys, reverse=True)
    assert len(found) == 30
    truth = {d.id: set(d.labels) for d in documents}
    lines = {d.id: d.line for d in documents}
    for one in found:
        assert one["line"] == lines[one["id"]]
        assert truth[one["id"]] == {*one["right"], *one["missed"]}
        assert one["errors"] == len(one["wrong"]) + len(one["missed"])
