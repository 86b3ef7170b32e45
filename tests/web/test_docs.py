"""/docs in a browser: every operation of the API is tried, and said as commands."""

import re
from typing import Any

import httpx
import pytest

from tests.web.conftest import Tabs
from tests.web.sites import Site

ANSWERED = re.compile("^200 .* ms")
STATUS = re.compile(r"^\d{3}( .* ms|$)")
ENDING = ("/evaluations/", "/comparisons", "/leaderboards/", "/uploads/")
"""What is asked for there may have ended, or not be there yet: another operation brings it."""
NOT_THERE = {404, 409, 422}


def opened(page: Any, name: str) -> Any:
    """The operation of that name, unfolded."""
    details = page.locator("details").filter(has=page.locator("summary", has_text=name)).first
    details.locator("summary").click()
    details.get_by_role("button", name="Send").wait_for()
    return details


def test_every_operation_can_be_tried_as_it_stands(tabs: Tabs, keyed_site: Site) -> None:
    tab = tabs(keyed_site)
    tab.expected_statuses = NOT_THERE
    page = tab.open("docs", keyed_site.keys["admin"])
    document = httpx.get(f"{keyed_site.url}openapi.json").json()
    operations = [(m.upper(), p) for p, methods in document["paths"].items() for m in methods]
    assert page.locator("details.operation").count() == len(operations)
    for method, path in operations:
        summary = page.locator("summary").filter(has=page.get_by_text(method, exact=True))
        operation = page.locator("details").filter(
            has=summary.filter(has=page.get_by_text(path, exact=True))
        )
        operation.locator("summary").click()
        operation.get_by_role("button", name="Send").wait_for()
        for field in operation.locator("input[required]").all():
            if not field.input_value():
                field.fill("1")
        operation.get_by_role("button", name="Send").click()
        status = operation.get_by_text(STATUS).first
        status.wait_for()
        code = int(status.inner_text()[:3])
        is_there = not path.startswith(ENDING)
        assert code < 300 or (code in NOT_THERE and not is_there), (method, path, code)
        operation.locator("summary").click()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_commands_follow_what_is_entered(
    tabs: Tabs, site: Site, width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    tab.page.goto(f"{site.url}docs")
    operation = opened(tab.page, "/models/{name}/labels")
    operation.get_by_role("textbox", name=re.compile("^q ")).fill("bill & 'co'")
    curl = operation.get_by_role("group", name="curl").inner_text()
    assert f"curl '{site.url}models/demo/labels?q=bill+%26+%27co%27'" in curl
    python = operation.get_by_role("group", name="Python").inner_text()
    assert "httpx.request" in python
    operation.get_by_role("button", name="Send").click()
    operation.get_by_text(ANSWERED).wait_for()
    assert '"labels": []' in operation.get_by_role("group", name="Answer").inner_text()
    tab.assert_accessible()


def test_an_error_is_shown_as_the_service_says_it_and_no_key_is_written_out(
    tabs: Tabs, keyed_site: Site
) -> None:
    tab = tabs(keyed_site)
    tab.expected_statuses = {422}
    page = tab.open("docs", keyed_site.keys["predict"])
    operation = opened(page, "/predict")
    operation.get_by_role("textbox", name="Body").fill('{"documents": []}')
    operation.get_by_role("button", name="Send").click()
    operation.get_by_text("422", exact=True).wait_for()
    assert "urn:labelserve:error:" in operation.get_by_role("group", name="Answer").inner_text()
    assert "$LABELSERVE_KEY" in operation.get_by_role("group", name="curl").inner_text()
    assert keyed_site.keys["predict"] not in page.content()


def test_operations_are_read_without_a_key_and_one_that_needs_it_asks(
    tabs: Tabs, keyed_site: Site
) -> None:
    tab = tabs(keyed_site)
    tab.expected_statuses = {401}
    page = tab.page
    page.goto(f"{keyed_site.url}docs")
    opened(page, "/health/live").get_by_role("button", name="Send").click()
    page.get_by_text(ANSWERED).wait_for()
    assert page.locator("dialog").count() == 0
    page.locator("summary", has_text="/models/{name}/card").click()
    page.get_by_role("textbox", name="Key").fill(keyed_site.keys["predict"])
    page.get_by_role("button", name="Use this key").click()
    names = page.get_by_role("textbox", name=re.compile("^name "))
    names.wait_for()
    assert names.input_value() == "demo"
