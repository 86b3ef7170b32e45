"""What all views share: header, addresses, the key, errors."""

import pytest

from tests.web.conftest import Tabs
from tests.web.sites import Site


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_page_opens_without_key_or_set_up(
    tabs: Tabs, site: Site, width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = tab.open("")
    assert page.title().endswith("labelserve")
    assert page.locator("nav [aria-current=page]").inner_text() == "Try"
    tab.assert_accessible()


def test_a_key_is_asked_for_once_and_kept_for_the_tab(tabs: Tabs, keyed_site: Site) -> None:
    tab = tabs(keyed_site)
    tab.expected_statuses = {401}
    tab.page.goto(keyed_site.url)
    tab.page.get_by_role("textbox", name="Key").fill("wrong")
    tab.page.get_by_role("button", name="Use this key").click()
    tab.page.get_by_role("alert").wait_for()
    tab.page.get_by_role("textbox", name="Key").fill(keyed_site.keys["predict"])
    tab.page.get_by_role("button", name="Use this key").click()
    tab.page.locator("main h1").wait_for()
    tab.expected_statuses = set()
    tab.page.reload()
    tab.page.locator("main h1").wait_for()
    assert tab.page.locator("dialog").count() == 0


def test_a_view_that_cannot_be_loaded_says_so(tabs: Tabs, site: Site) -> None:
    tab = tabs(site)
    tab.expected_statuses = {404}
    tab.page.route("**/views/try/view.js", lambda route: route.fulfill(status=404))
    tab.page.goto(site.url)
    assert "could not be loaded" in tab.page.get_by_role("alert").inner_text()


def test_an_address_that_names_nothing_shows_the_first_view(tabs: Tabs, site: Site) -> None:
    page = tabs(site).open("nowhere/%zz")
    assert page.locator("nav [aria-current=page]").inner_text() == "Try"
