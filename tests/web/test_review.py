"""Review: suspects and mistakes are decided on by four keys, and come out as corrections."""

import csv
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.datasets.corrections.file import load_corrections
from tests.web.conftest import Tabs
from tests.web.evaluations import documents, evaluated
from tests.web.sites import Site

OWN = "<u>seen by nobody else</u>"


@pytest.fixture(scope="module")
def reviewed_file(demo_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with labels swapped from row to row, so that there is something to find."""
    file = tmp_path_factory.mktemp("review") / "it's a test.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        rows = csv.writer(opened, delimiter=";")
        rows.writerow(["body", "tags", "id"])
        for one, other in pairwise(documents(demo_corpus)):
            rows.writerow([f"{OWN}\n{one['text']}", "|".join(other["labels"]), one["id"]])
    return file


@pytest.fixture(scope="module")
def evaluation(site: Site, reviewed_file: Path) -> str:
    """The id of an evaluation of that file."""
    reading = {"format": "csv", "text_columns": "body", "label_column": "tags"}
    return str(evaluated(site, reviewed_file, suspects=20, **reading)["id"])


def test_decisions_by_keys_become_the_corrections_that_training_takes(
    tabs: Tabs, site: Site, evaluation: str, reviewed_file: Path
) -> None:
    tab = tabs(site)
    page = open_review(tab, evaluation, reviewed_file)
    assert OWN in page.get_by_role("region", name="Text").inner_text()
    for key in "tkd?":
        page.keyboard.press(key)
    page.get_by_text("4 of ").wait_for()
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("button", name="Unsure").get_attribute("aria-pressed") == "true"
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the corrections").click()
    found = load_corrections(saved.value.path()).corrections
    assert [one.decision for one in found] == ["take", "keep", "drop", "unsure"]
    words = shlex.split(page.locator(".command pre").inner_text())
    assert words[2] == reviewed_file.name
    assert words[-1] == saved.value.suggested_filename
    assert not [request for request in tab.requests if request.startswith("POST")]


@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (390, "light")])
def test_a_review_goes_on_after_a_reload_with_buttons_alone(
    tabs: Tabs, site: Site, evaluation: str, reviewed_file: Path, width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = open_review(tab, evaluation, reviewed_file)
    page.get_by_role("button", name="Take").click()
    page.get_by_text("1 of ").wait_for()
    page.reload()
    drop(page, reviewed_file)
    page.get_by_text("1 of ").wait_for()
    tab.assert_accessible()


def test_another_file_than_the_one_evaluated_is_warned_of(
    tabs: Tabs, site: Site, evaluation: str, reviewed_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(reviewed_file.read_bytes() + b"x;y;z\n")
    page = open_review(tabs(site), evaluation, other)
    page.get_by_text("not the file that was evaluated").wait_for()


def open_review(tab: Any, evaluation: str, file: Path) -> Any:
    page = tab.open("review")
    page.locator(f"a[href*='{evaluation}']").click()
    drop(page, file)
    return page


def drop(page: Any, file: Path) -> None:
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("region", name="Text").wait_for()
