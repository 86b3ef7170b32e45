"""The browser, services with the demo model, and tabs that fail where anything goes wrong.

`tabs(site, width=390, scheme="dark")` opens a tab; at the end of the test no console error, page
error, breach of the content policy, unexpected status or request to another host may have come.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from soak.wide_model import store_wide

from app.artifacts.store import Store
from app.datasets.collection import Collection, load_collection
from app.datasets.demo.corpus import write_demo
from app.labels import LabelIndex
from app.model import load_model
from app.serving.keys import KeysFile
from app.settings import SCOPES
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train
from tests.hand_rules.made_up import ruled
from tests.reliability.servers import start
from tests.web.sites import Site, Tab

N_DEMO = 1200
"""Documents of the demo corpus that the model is trained on: all would take too long."""
N_LABELS = 5460
HOSTILE = (
    "\"'><img src=x onerror=alert(1)>",
    "../../models?q=#/%2e%2e/",
    "</script><script>alert(2)</script>",
    "long " * 2000,
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
)
"""Labels that are meant to do harm, in the order that a model has them in."""
RULE = ("printer", "assign", "coffee & !tea")

Tabs = Callable[..., Tab]


@pytest.fixture(scope="session")
def demo_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the demo corpus: train.jsonl, shortened, and test.jsonl."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    lines = (folder / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "train.jsonl").write_text("".join(lines[:N_DEMO]), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def web_models(
    tmp_path_factory: pytest.TempPathFactory,
    demo_corpus: Path,
    corpus: Collection,
    named_models: Path,
) -> Path:
    """Models by what they have. Not to change.

    `demo` (two versions), `named` (names, a hierarchy), `hostile` (labels meant to do harm),
    `ruled` (a hand-written rule), `nearest` (a kNN) and `wide` (5,460 labels).
    """
    store = Store(tmp_path_factory.mktemp("web-models"))
    keep_trained(store, "demo", load_collection(demo_corpus / "train.jsonl"), versions=2)
    keep_trained(store, "nearest", corpus, "knn")
    shutil.copytree(named_models / "named", store.path / "named", symlinks=True)
    named = load_model(Store(named_models), "named")
    hostile = replace(named.classifier, labels=LabelIndex(HOSTILE), taxonomy=None)
    store.promote("hostile", store.write("hostile", hostile.state(), named.info()))
    with_rule = ruled(named.classifier, RULE)
    store.promote("ruled", store.write("ruled", with_rule.state(), named.info()))
    store_wide(store.path, N_LABELS)
    return store.path


def keep_trained(
    store: Store, name: str, data: Collection, learner: str | None = None, *, versions: int = 1
) -> None:
    """Train a model and write so many equal versions of it, the last as the current one."""
    trained = train(TrainingJob(data, read_recipe(None, learner=learner)))
    for _ in range(versions):
        store.promote(name, store.write(name, trained.classifier.state(), trained.info))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, web_models: Path) -> Iterator[Site]:
    """The service as `make serve` starts it, with an older version loaded: no key, no set-up."""
    folder = tmp_path_factory.mktemp("site")
    older = f"demo@{Store(web_models).versions('demo')[0]}"
    settings = {"default_model": "demo", "required_models": f"demo,{older}"}
    server = start(folder, models_dir=web_models, **settings)
    yield Site(server)
    server.stop()


@pytest.fixture(scope="session")
def keyed_site(tmp_path_factory: pytest.TempPathFactory, web_models: Path) -> Iterator[Site]:
    """A service with keys, which a gateway serves under /team/labels."""
    folder = tmp_path_factory.mktemp("keyed-site")
    keys = KeysFile(folder / "keys.json")
    secrets = {scope: keys.create([scope])[1] for scope in SCOPES}
    settings = {"api_keys_file": folder / "keys.json", "root_path": "/team/labels"}
    server = start(folder, models_dir=web_models, default_model="demo", **settings)
    yield Site(server, "/team/labels", secrets)
    server.stop()


@pytest.fixture
def tabs(browser: Any) -> Iterator[Tabs]:
    """`tabs(site, width=390, scheme="dark")`: a tab of its own, judged and closed at the end."""
    opened: list[Tab] = []

    def tab(site: Site, *, width: int = 1400, scheme: str = "light", **options: Any) -> Tab:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        opened.append(Tab(context.new_page(), site))
        return opened[-1]

    yield tab
    for one in opened:
        one.page.context.close()
    assert [fault for one in opened for fault in one.faults] == []
