"""Evaluate: a test set is checked, evaluated and reported; and kept, until it is deleted."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import Tabs
from tests.web.evaluations import SECONDS, documents, evaluated, write_lines
from tests.web.sites import Site

HOSTILE = "<b onclick=alert(1)>'&.jsonl"
UNKNOWN = "<i>unknown</i>"


@pytest.fixture(scope="module")
def test_set(demo_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some test documents under a hostile name, one with a label that no model knows."""
    content = documents(demo_corpus)
    content[3]["labels"].append(UNKNOWN)
    return write_lines(tmp_path_factory.mktemp("evaluate") / HOSTILE, content)


def test_a_test_set_is_checked_evaluated_reported_and_deleted(
    tabs: Tabs, site: Site, demo_corpus: Path, test_set: Path
) -> None:
    tab = tabs(site)
    page = tab.open("evaluate")
    drop(page, test_set)
    assert documents(demo_corpus)[0]["id"] in said(page)
    assert UNKNOWN in said(page)
    tab.assert_accessible()
    evaluate(page)
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator(".counts dd.soft").first.inner_text().count("0.") == 2
    assert page.locator("svg[role=img]").count() == 3
    page.get_by_label("Note").fill("<b>mine</b>")
    page.get_by_label("Note").blur()
    page.get_by_text("Kept.").wait_for()
    page.get_by_role("button", name="Pin").click()
    page.get_by_role("button", name="Unpin").wait_for()
    with page.expect_popup() as report:
        page.get_by_role("link", name="Report as one page").click()
    report.value.get_by_text("Worst documents").wait_for()
    page.goto(f"{site.url}#/evaluate")
    page.get_by_text("📌 <b>mine</b>").wait_for()
    page.get_by_role("link", name=HOSTILE).first.click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Really delete").click()
    page.get_by_role("heading", name="Evaluate").wait_for()
    assert not page.get_by_text("<b>mine</b>").count()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_a_report_and_the_history_can_be_read_by_everyone(
    tabs: Tabs, site: Site, test_set: Path, width: int, scheme: str
) -> None:
    evaluation = evaluated(site, test_set, bootstrap=20)
    tab = tabs(site, width=width, scheme=scheme)
    page = tab.open(f"evaluations/{evaluation['id']}")
    page.get_by_role("table", name="Labels").wait_for()
    tab.assert_accessible()
    page = tab.open("evaluate")
    page.locator(f"a[href*='{evaluation['id']}']").wait_for()
    tab.assert_accessible()


def test_labels_of_a_report_are_sorted_and_found_and_few_are_nodes(
    tabs: Tabs, site: Site, test_set: Path
) -> None:
    tab = tabs(site)
    page = tab.open("evaluate")
    page.get_by_label("Model").select_option("wide")
    drop(page, test_set)
    evaluate(page)
    labels = page.get_by_role("table", name="Labels")
    assert int(labels.get_attribute("aria-rowcount")) == 5461
    assert page.locator("*").count() < 1200
    labels.get_by_role("button", name="label").click()
    assert labels.locator("[aria-sort=ascending]").inner_text() == "label"
    first = labels.get_by_role("link").first.inner_text()
    page.get_by_label("Find a label").fill(first)
    assert labels.get_by_role("link").first.inner_text() == first
    assert int(labels.get_attribute("aria-rowcount")) < 5461


def test_with_a_key_and_without_events_an_evaluation_is_followed_to_its_end(
    tabs: Tabs, keyed_site: Site, test_set: Path
) -> None:
    tab = tabs(keyed_site)
    tab.expected_statuses = {403, 502}
    tab.page.route("**/events", lambda route: route.fulfill(status=502))
    page = tab.open("evaluate", keyed_site.keys["evaluate"])
    drop(page, test_set)
    evaluate(page)
    assert any("GET /evaluations/" in request for request in tab.requests)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the report").click()
    assert "Worst documents" in saved.value.path().read_text(encoding="utf-8")


def test_several_files_by_several_models_are_evaluated_and_each_file_is_sent_once(
    tabs: Tabs, site: Site, demo_corpus: Path, tmp_path: Path
) -> None:
    content, names = documents(demo_corpus), ("first.jsonl", "second.jsonl")
    files = [write_lines(tmp_path / name, content[place::2]) for place, name in enumerate(names)]
    tab = tabs(site)
    page = tab.open("evaluate")
    page.locator("input[type=file]").set_input_files(files)
    page.locator(".counts").nth(1).wait_for()
    assert [one.inner_text() for one in page.locator("h3").all()] == list(names)
    page.get_by_text("Compare with other models").click()
    page.get_by_role("checkbox", name="nearest").check()
    tab.assert_accessible()
    page.get_by_role("button", name="Evaluate", exact=True).click()
    page.get_by_text("4 evaluations handed in").wait_for()
    for name in names:
        done = page.locator("tr", has_text=name).filter(has_text=re.compile(r"0\.\d{3}"))
        done.nth(1).wait_for(timeout=1000 * SECONDS)
        said_of = " ".join(done.all_inner_texts())
        assert "demo@" in said_of
        assert "nearest@" in said_of
    assert len([request for request in tab.requests if request.startswith("PUT /uploads/")]) == 2


def test_where_a_file_cannot_be_hashed_it_is_sent_whole(
    tabs: Tabs, site: Site, test_set: Path
) -> None:
    tab = tabs(site)
    hashless = "Object.defineProperty(crypto, 'subtle', { value: undefined })"
    tab.page.add_init_script(hashless)  # as on a page that came without TLS
    page = tab.open("evaluate")
    drop(page, test_set)
    evaluate(page)
    assert page.locator("h1").inner_text() == HOSTILE
    assert not [request for request in tab.requests if request.startswith("PUT")]


def test_an_evaluation_that_fails_or_is_cancelled_says_so(
    tabs: Tabs, site: Site, tmp_path: Path
) -> None:
    tab = tabs(site)
    tab.expected_statuses = {422}
    page = tab.open("evaluate")
    file = tmp_path / "bad.csv"
    file.write_text("text,labels\na,b\nc\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    assert "1 fields in a row" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Evaluate", exact=True).click()
    page.wait_for_url("**/evaluations/*")
    assert "1 fields in a row" in page.get_by_role("alert").inner_text()


def drop(page: Any, file: Path) -> None:
    page.locator("input[type=file]").set_input_files(file)
    page.locator(".counts").wait_for()


def evaluate(page: Any) -> None:
    page.get_by_role("button", name="Evaluate", exact=True).click()
    page.get_by_role("link", name="Review labels").wait_for(timeout=1000 * SECONDS)


def said(page: Any) -> str:
    text: str = page.locator("main").inner_text()
    return text
