"""Models, their cards and labels in a browser: what there is, and which version answers."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from app.artifacts.store import Store
from app.labels import LabelEntry, Taxonomy
from app.model import load_model
from app.serving.keys import KeysFile
from app.settings import SCOPES
from app.training.relabel import relabel
from tests.reliability.servers import start
from tests.web.conftest import Tabs
from tests.web.sites import Site

SIZES = pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
MOST_NODES = 600
HOSTILE = "<img src=x onerror=alert(1)>\"'/?#%zz \u202egnol " + "x" * 3000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path) -> Store:
    """`tiny` in two versions, `broken`, and `hostile`, whose label `crash` is called HOSTILE."""
    store = Store(Path(shutil.copytree(tiny_models, tmp_path_factory.mktemp("v") / "models")))
    tiny = load_model(store, "tiny")
    store.promote("tiny", store.write("tiny", tiny.classifier.state(), tiny.info()))
    version = store.write("broken", tiny.classifier.state(), tiny.info())
    store.promote("broken", version)
    file = next((store.path / "broken" / version).glob("*.npy"))
    file.write_bytes(bytes(file.stat().st_size))
    renamed = relabel(tiny, {"crash": HOSTILE}).trained.classifier
    entries = [LabelEntry(HOSTILE, HOSTILE, HOSTILE, "top"), LabelEntry("top", HOSTILE)]
    taxonomy = Taxonomy.of(entries, renamed.answered_labels)
    hostile = store.write("hostile", replace(renamed, taxonomy=taxonomy).state(), tiny.info())
    store.promote("hostile", hostile)
    return store


@pytest.fixture(scope="module")
def stored_site(tmp_path_factory: pytest.TempPathFactory, store: Store) -> Iterator[Site]:
    """A service with keys over those models."""
    folder = tmp_path_factory.mktemp("stored-site")
    keys = KeysFile(folder / "keys.json")
    secrets = {scope: keys.create([scope])[1] for scope in SCOPES}
    settings = {"api_keys_file": folder / "keys.json", "required_models": "tiny,hostile"}
    server = start(folder, models_dir=store.path, default_model="tiny", **settings)
    yield Site(server, keys=secrets)
    server.stop()


@SIZES
def test_models_are_listed_and_one_that_failed_says_why(
    tabs: Tabs, stored_site: Site, width: int, scheme: str
) -> None:
    tab = tabs(stored_site, width=width, scheme=scheme)
    page = tab.open("models", stored_site.keys["predict"])
    assert page.locator("main h2").all_inner_texts() == ["broken", "hostile", "tiny"]
    assert "could not be loaded" in page.locator(".notice.error").inner_text()
    tab.assert_accessible()


@SIZES
def test_a_card_shows_figures_curves_versions_and_labels_and_leads_to_a_label(
    tabs: Tabs, site: Site, width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = tab.open("models/demo")
    page.get_by_role("img", name="Expected precision over recall").wait_for()
    page.get_by_role("img", name="Share of true labels by probability").wait_for()
    assert page.locator(".figures-large dd").count() == 4
    tab.assert_accessible()
    page.get_by_role("searchbox", name="Search labels").fill("billing")
    page.get_by_role("link", name="billing").click()
    page.get_by_role("heading", name="Speaks for it").wait_for()
    assert page.locator("main h1").inner_text() == "billing"
    assert page.locator(".terms.plus li").count() == page.locator(".terms.minus li").count() == 20
    page.get_by_role("img", name="Precision over recall of this label").wait_for()
    tab.assert_accessible()


def test_thousands_of_labels_are_searched_by_the_service_and_a_hundred_shown(
    tabs: Tabs, site: Site
) -> None:
    tab = tabs(site)
    page = tab.open("models/wide")
    page.locator(".label-list li").nth(99).wait_for()
    first = page.locator(".label-list li").first.inner_text()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Previous").wait_for()
    assert page.locator(".label-list li").first.inner_text() > first
    assert page.locator(".label-list li").count() == 100
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
    asked = len(tab.requests)
    wanted = page.locator(".label-list li").nth(50).inner_text()
    page.get_by_role("searchbox", name="Search labels").fill(wanted)
    page.locator(".label-list li").nth(99).wait_for(state="detached")
    assert tab.requests[asked:] == ["GET /models/wide/labels"]
    assert page.locator(".label-list li").first.inner_text() == wanted


def test_hostile_names_are_shown_as_text(tabs: Tabs, stored_site: Site) -> None:
    tab = tabs(stored_site, width=390)
    key = stored_site.keys["predict"]
    page = tab.open("models/hostile", key)
    link = page.locator(".label-list a", has_text="<img src=x onerror=alert(1)>")
    link.click()
    page.get_by_role("heading", name="Speaks for it").wait_for()
    assert page.locator("main h1").inner_text().startswith("<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0
    tab.assert_accessible()
    again = tab.open(f"models/hostile/label/{quote(HOSTILE, safe='')}")
    assert again.locator("main h1").inner_text().startswith("<img")


def test_a_version_is_rolled_back_to_after_a_question_and_with_an_admin_key_alone(
    tabs: Tabs, stored_site: Site, store: Store
) -> None:
    old, new = store.versions("tiny")
    for scope in ("predict", "admin"):
        tab = tabs(stored_site)
        tab.expected_statuses = {403} if scope == "predict" else set()
        page = tab.open("models/tiny", stored_site.keys[scope])
        page.get_by_role("button", name="Roll back").click()
        dialog = page.get_by_role("dialog")
        assert old in dialog.inner_text()
        assert new in dialog.inner_text()
        dialog.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Roll back").click()
        dialog.get_by_role("button", name="Roll back").click()
        if scope == "predict":
            assert "scope admin" in page.get_by_role("alert").inner_text()
            assert store.current("tiny") == new
    page.locator(".rows li", has_text=new).get_by_role("button", name="Make current").wait_for()
    assert "current" in page.locator(".rows li", has_text=old).inner_text()
    assert store.current("tiny") == old


def test_a_model_that_failed_to_load_shows_its_versions_and_the_reason(
    tabs: Tabs, stored_site: Site
) -> None:
    page = tabs(stored_site).open("models/broken", stored_site.keys["predict"])
    assert "could not be loaded" in page.locator(".notice.error").inner_text()
    assert page.locator(".rows li").count() == 1
