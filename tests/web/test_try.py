"""Try: labels as one types, why they came, and the slider along the model's curve."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.web.conftest import HOSTILE, Tabs
from tests.web.sites import SECONDS, Site, Tab

expect.set_options(timeout=SECONDS * 1000)
TEXT = "😀 I would like my money back, the camera never arrived"
MOST_NODES = 700


def tried(tab: Tab, text: str = TEXT, key: str | None = None, view: str = "try") -> Any:
    """The page with this text in its field, and its labels there."""
    page = tab.open(view, key)
    page.get_by_role("textbox", name="Text").fill(text)
    page.locator(".bar-row").first.wait_for()
    return page


def predictions(tab: Tab) -> int:
    return tab.requests.count("POST /predict")


@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (390, "light")])
def test_a_text_is_answered_as_it_is_typed_and_a_label_says_why(
    tabs: Tabs, site: Site, width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = tried(tab)
    first = page.locator(".is-assigned .bar-row").first
    expect(first).to_contain_text("refund")
    expect(first).to_contain_text("cut at")
    first.click()
    page.locator(".reasons").wait_for()
    marks = page.locator(".backdrop mark.plus").all_inner_texts()
    assert "money" in marks  # not "oney ": the emoji before it is two units, and one code point
    numbers = [_number(row) for row in page.locator(".reasons td:last-child").all_inner_texts()]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.002 * len(numbers))
    tab.assert_accessible()
    first.click()
    expect(page.locator(".backdrop mark")).to_have_count(0)


def _number(shown: str) -> float:
    return float(shown.replace("−", "-"))


def test_typing_asks_once_a_pause_and_shows_the_last_answer(tabs: Tabs, site: Site) -> None:
    tab = tabs(site)
    page = tab.open("try")
    assert predictions(tab) == 0
    page.evaluate(
        """text => { const field = document.querySelector("textarea");
        for (let end = 1; end <= text.length; end += 1) {
          field.value = text.slice(0, end); field.dispatchEvent(new Event("input")); } }""",
        "please refund my money",
    )
    expect(page.locator(".is-assigned").first).to_contain_text("refund")
    assert predictions(tab) == 1
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("appear here as you type")).to_be_visible()
    expect(page.locator(".bar-row").first).to_be_hidden()
    page.get_by_role("button", name="Example").click()
    page.locator(".bar-row").first.wait_for()


def test_moving_the_slider_asks_nobody_but_once_at_the_pause(tabs: Tabs, site: Site) -> None:
    tab = tabs(site)
    page = tried(tab)
    page.locator(".is-assigned .bar-row").first.click()
    page.locator(".reasons").wait_for()
    expect(page.get_by_text("is unattainable").first).to_be_visible()
    before, precision = list(tab.requests), page.locator(".figures dd").first.text_content()
    with page.expect_response("**/predict") as answered:
        page.evaluate(
            """() => { const range = document.querySelector("input[type=range]");
            for (let place = Number(range.value); place >= 0; place -= 1) {
              range.value = place; range.dispatchEvent(new Event("input")); } }"""
        )
        assert page.locator(".figures dd").first.text_content() != precision
    expected = answered.value.json()["operating_point"]
    shown = page.locator(".figures dd").first.inner_text()
    assert shown.startswith(f"{100 * expected['precision']:.1f} %")
    page.get_by_role("button", name="Back to the model's own").click()
    expect(page.locator(".figures dd").first).to_have_text(precision)
    page.wait_for_load_state("networkidle")
    assert tab.requests[len(before) :] == ["POST /predict"] * 2


def test_every_place_of_the_slider_is_a_point_the_service_answers(site: Site, tabs: Tabs) -> None:
    tab = tabs(site)
    page = tried(tab)
    asked: list[tuple[str, Any]] = []
    page.on("response", lambda answer: asked.append((answer.request.post_data, answer)))
    slider = page.get_by_role("slider")
    for key in ("Home", "End"):
        with page.expect_response("**/predict"):
            slider.press(key)
        said = slider.get_attribute("aria-valuetext")
        sent, answer = asked[-1]
        point = answer.json()["operating_point"]
        assert json.loads(sent)["operating_point"] == point["name"]
        assert point["met"]
        shown = f"precision {100 * point['precision']:.1f} %, recall {100 * point['recall']:.1f} %"
        assert said == shown


def test_names_and_ancestors_are_shown_and_hostile_ones_are_text(tabs: Tabs, site: Site) -> None:
    tab = tabs(site, width=390)
    page = tried(tab, "invoice refund payment, password reset", view="try?model=named")
    expect(page.locator("[data-label=billing]")).to_contain_text("Rechnung & <b>Zahlung</b>")
    expect(page.locator("[data-label=login] .path")).to_have_text("Alles › trouble › Absturz ›")
    assert page.locator("main b b, main img").count() == 0
    tab.assert_accessible()


def test_labels_that_are_meant_to_do_harm_are_shown_as_text(tabs: Tabs, site: Site) -> None:
    tab = tabs(site, width=390)
    page = tried(tab, "invoice refund payment, toner paper", view="try?model=hostile")
    rows = page.locator(".bar-row")
    expect(rows).to_have_count(len(HOSTILE))
    shown = {row.get_attribute("data-label") for row in page.locator(".bars li").all()}
    assert shown == set(HOSTILE)
    for place in range(len(HOSTILE)):
        rows.nth(place).click()
        expect(page.locator(".reasons tfoot")).to_contain_text("score")
    assert page.locator("main img, main script").count() == 0
    page.get_by_label("Find another label").fill("<img")
    expect(page.locator(".results button")).to_have_text(HOSTILE[0])
    tab.assert_accessible()


def test_a_label_says_the_rule_that_assigned_it(tabs: Tabs, site: Site) -> None:
    page = tried(tabs(site), "the coffee is cold", view="try?model=ruled")
    printer = page.locator("[data-label=printer]")
    printer.locator(".bar-row").click()
    expect(printer.locator(".reasons")).to_contain_text("rule coffee & !tea")


def test_neighbours_are_reasons_too(tabs: Tabs, site: Site) -> None:
    page = tried(tabs(site), "invoice charged refund", view="try?model=nearest")
    page.locator("[data-label=billing] .bar-row").click()
    expect(page.locator(".reasons")).to_contain_text("training document ")
    expect(page.locator(".backdrop mark")).to_have_count(0)


def test_estimates_are_called_approximate(tabs: Tabs, site: Site) -> None:
    tab = tabs(site)
    page = tried(tab)

    def estimated(route: Any) -> None:
        answer = route.fetch().json()
        answer["predictions"][0]["labels"][0]["approximate"] = True
        route.fulfill(json=answer)

    page.route("**/predict", estimated)
    page.locator(".is-assigned .bar-row").first.click()
    expect(page.get_by_text("Approximate:")).to_be_visible()


def test_thousands_of_labels_stay_a_few_nodes_and_are_searched_by_the_service(
    tabs: Tabs, site: Site
) -> None:
    tab = tabs(site)
    tab.expected_statuses = {422}  # it has no curve
    page = tried(tab, "refund paper", view="try?model=wide")
    expect(page.get_by_text("it has no curve")).to_be_visible()
    expect(page.get_by_text("1 – 25 of 200 labels or more")).to_be_visible()
    assert page.locator("*").count() < MOST_NODES
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("26 – 50 of 200 labels or more")).to_be_visible()
    page.get_by_label("Find another label").fill("label00")
    expect(page.get_by_text("The first 12 of 1,000 or more")).to_be_visible()
    page.get_by_label("Find another label").fill("label005459")
    page.get_by_role("button", name="label005459").click()
    expect(page.locator("[data-label=label005459] tfoot")).to_contain_text("score")
    asked = {"documents": ["refund paper"], "model": "wide", "top_k": 100}
    ranked = httpx.post(f"{site.url}predict", json=asked).json()["predictions"][0]["labels"]
    hidden = ranked[-1]["label"]  # assigned, but on another page of the list
    page.get_by_label("Find another label").fill(hidden)
    page.get_by_role("button", name=hidden).click()
    expect(page.locator(f"[data-label={hidden}] tfoot")).to_contain_text("score")
    assert page.locator("*").count() < MOST_NODES
    assert "GET /models/wide/labels" in tab.requests


def test_what_is_copied_asks_the_same(tabs: Tabs, keyed_site: Site) -> None:
    rights = {"permissions": ["clipboard-read", "clipboard-write"]}
    tab = tabs(keyed_site, **rights)
    page = tried(tab, key=keyed_site.keys["predict"])
    copied = {}
    for name in ("Labels", "JSON", "curl", "Python"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied[name] = page.evaluate("navigator.clipboard.readText()")
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    found = json.loads(copied["JSON"])["predictions"][0]["labels"]
    assert copied["Labels"].split("\n") == [label["label"] for label in found]
    assert f"{keyed_site.url}predict" in copied["curl"]
    assert f'Client("{keyed_site.url.rstrip("/")}"' in copied["Python"]
    assert keyed_site.keys["predict"] not in copied["curl"] + copied["Python"]
    body = json.loads(copied["curl"].partition("-d '")[2].rstrip("'"))
    headers = {"authorization": f"Bearer {keyed_site.keys['predict']}"}
    answer = httpx.post(f"{keyed_site.url}predict", json=body, headers=headers)
    labels = [label["label"] for label in answer.json()["predictions"][0]["labels"]]
    assert labels == [label["label"] for label in found]


def test_another_model_or_version_answers_the_same_text(tabs: Tabs, site: Site) -> None:
    tab = tabs(site)
    page = tried(tab)
    chooser = page.get_by_label("Model")
    older = next(o for o in chooser.locator("option").all_inner_texts() if o.startswith("demo@"))
    for reference in (older, "wide"):
        tab.expected_statuses = {422}  # `wide` has no curve
        with page.expect_response("**/predict") as answered:
            chooser.select_option(reference)
        said = answered.value.json()
        assert reference in (said["model"], f"{said['model']}@{said['version']}")
    assert page.get_by_role("textbox", name="Text").input_value() == TEXT


def test_a_file_is_read_into_the_field_and_a_binary_one_is_refused(
    tabs: Tabs, site: Site, tmp_path: Path
) -> None:
    tab = tabs(site)
    page = tab.open("try")
    good, bad = tmp_path / "ticket.txt", tmp_path / "<img src=x onerror=alert(1)>.bin"
    good.write_text("please refund my money")
    bad.write_bytes(b"\0\1\2")
    page.locator("input[type=file]").set_input_files(good)
    expect(page.locator(".is-assigned").first).to_contain_text("refund")
    page.locator("input[type=file]").set_input_files(bad)
    expect(page.get_by_text(f"{bad.name} is no text file")).to_be_visible()
    assert page.get_by_role("textbox", name="Text").input_value() == "please refund my money"


def test_the_keyboard_alone_opens_a_label_and_moves_on(tabs: Tabs, site: Site) -> None:
    tab = tabs(site)
    page = tried(tab)
    first = page.locator(".is-assigned .bar-row").first
    first.focus()
    page.keyboard.press("Enter")
    page.locator(".reasons").wait_for()
    expect(page.locator(".is-assigned .bar-row").first).to_be_focused()
    expect(page.locator(".is-assigned .bar-row").first).to_have_attribute("aria-expanded", "true")
