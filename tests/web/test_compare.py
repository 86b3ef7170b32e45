"""Compare and Leaderboard: evaluations of the same data side by side, differences first."""

from pathlib import Path

import pytest

from tests.web.conftest import Tabs
from tests.web.evaluations import documents, evaluated, write_lines
from tests.web.sites import Site

SIZES = [(1400, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def pair(
    site: Site, demo_corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, str]]:
    """Two evaluations of the same file by the same model, once with another decision."""
    content = documents(demo_corpus)[:40]
    content[0]["id"] = "<script>alert(1)</script>"
    file = write_lines(tmp_path_factory.mktemp("compare") / "compared.jsonl", content)
    return [evaluated(site, file, decision=decision) for decision in ("tuned", "rank:5")]


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_of_two_evaluations_the_differences_come_first(
    tabs: Tabs, site: Site, pair: list[dict[str, str]], width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = tab.open("evaluate")
    for one in pair:
        row = page.get_by_role("row").filter(has=page.locator(f"a[href*='{one['id']}']"))
        row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("better than").wait_for()
    settings = page.get_by_role("region", name="Settings")
    assert settings.get_by_role("row").all_inner_texts()[1].split() == [
        "decision",
        "tuned",
        "rank:5",
    ]
    page.get_by_label("Only differences (1 of").uncheck()
    assert settings.get_by_role("row").count() > 5
    assert page.get_by_text("<script>alert(1)</script>").is_visible()
    tab.assert_accessible()


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_leaderboard_ranks_all_evaluations_of_a_data_set(
    tabs: Tabs, site: Site, pair: list[dict[str, str]], width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = tab.open(f"leaderboard/{pair[0]['data']}")
    rows = page.get_by_role("region", name="Leaderboard").get_by_role("row")
    assert [row.split()[0] for row in rows.all_inner_texts()[1:]] == ["1", "2"]
    page.get_by_label("Figure").select_option("micro.recall")
    page.locator(f"tbody tr:first-child a[href*='{pair[1]['id']}']").first.wait_for()
    tab.assert_accessible()
    page.get_by_role("link", name="compare with the best").click()
    page.get_by_role("heading", name="Comparison").wait_for()
