"""What tests share: how a run is organised, a small made-up corpus, models trained on it."""

import json
import os
import random
import shutil
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from soak.postgresql import PostgresqlServer, is_installed

from app.artifacts.store import Store
from app.compiling.processes import compile_kernels
from app.datasets.collection import Collection, load_collection

TOPICS = {
    "billing": "invoice charged refund payment card amount overdue receipt",
    "crash": "crash freezes restart error trace unexpected abort hangs",
    "login": "password login account locked reset token sign credentials",
    "shipping": "parcel delivery courier tracking late warehouse address box",
    "printer": "toner paper jam tray ink cartridge printer queue",
}
FILLER = "please help since yesterday our team cannot work and this is urgent thanks"
SERVERS = (
    "tests/deploy/",
    "tests/engines/",
    "tests/evaluation/test_page.py",
    "tests/library/test_client.py",
    "tests/library/test_python_page.py",
    "tests/reliability/",
    "tests/server/",
    "tests/serving/jobs/test_killed_workers.py",
    "tests/test_readme.py",
    "tests/web/",
)
"""Tests that start servers or a browser: one worker runs them all, so that they do not starve each
other of the second core."""
SLOW = (
    "tests/deploy/",
    "tests/engines/",
    "tests/evaluation/test_page.py",
    "tests/kernels/test_compiler.py",
    "tests/kernels/test_source_stamp.py",
    "tests/learners/neural/",
    "tests/learners/test_interruption.py",
    "tests/library/",
    "tests/reliability/",
    "tests/scripts/",
    "tests/test_readme.py",
    "tests/web/",
)
"""Marked slow as a whole; single tests elsewhere carry the mark themselves."""
NO_SKIPS = "LABELSERVE_TEST_ALL"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before workers start; no service is then tested with plain ones."""
    if not hasattr(session.config, "workerinput"):
        compile_kernels()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, group tests for the workers, and put the longest group first."""
    for item in items:
        file = item.nodeid.partition("::")[0]
        if file.startswith(SLOW):
            item.add_marker("slow")
        if file.startswith("tests/canaries/"):
            item.add_marker("canary")
        # A file's tests share its fixtures, so they stay together, too.
        group = file
        if file.startswith(SERVERS):
            group = "servers"
            item.add_marker(pytest.mark.flaky(reruns=1))  # the machine is shared; each is listed
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: not item.nodeid.startswith(SERVERS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a test; a skip is a failure where nothing may be skipped."""
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The report of a file's collection, of which the same holds."""
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure under LABELSERVE_TEST_ALL=1; what is expected to fail may."""
    if report.skipped and not hasattr(report, "wasxfail") and NO_SKIPS in os.environ:
        report.outcome = "failed"
        report.longrepr = f"skipped, and under {NO_SKIPS} nothing may be: {report.longrepr}"


def write_corpus(file: Path, n_documents: int, seed: int = 0) -> Path:
    """Write documents of one to three topics as JSON lines; the same bytes for the same seed."""
    pick = random.Random(seed)
    with file.open("w", encoding="utf-8") as lines:
        for number in range(n_documents):
            labels = sorted(pick.sample(sorted(TOPICS), pick.choice([1, 1, 2, 3])))
            words = pick.sample(FILLER.split(), 6)
            for label in labels:
                words += pick.sample(TOPICS[label].split(), 3)
            pick.shuffle(words)
            record = {"id": str(number), "text": " ".join(words), "labels": labels}
            lines.write(json.dumps(record) + "\n")
    return file


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 documents with 5 labels."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "train.jsonl", 120)


@pytest.fixture(scope="session")
def corpus(corpus_file: Path) -> Collection:
    return load_collection(corpus_file)


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory, corpus: Collection) -> Path:
    """A models folder with `tiny`, a one-vs-rest model with every part. Copy it to change it."""
    from app.training.recipe import read_recipe
    from app.training.train import TrainingJob, train

    folder = tmp_path_factory.mktemp("models")
    trained = train(TrainingJob(corpus, read_recipe(None)))
    store = Store(folder)
    version = store.write("tiny", trained.classifier.state(), trained.info)
    store.promote("tiny", version)
    return folder


@pytest.fixture(scope="session")
def named_models(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path) -> Path:
    """The same model as `named`, with a labels file: names, and two trees."""
    from app.labels import LabelEntry, Taxonomy
    from app.model import load_model

    tiny = load_model(Store(tiny_models), "tiny")
    entries = [
        LabelEntry("billing", "Rechnung & <b>Zahlung</b>", "what is owed", "money"),
        LabelEntry("crash", "Absturz", "", "trouble"),
        LabelEntry("login", "תקלה בכניסה", "", "crash"),
        LabelEntry("money", "Geld"),
        LabelEntry("trouble", "", "", "all"),
        LabelEntry("all", "Alles"),
        LabelEntry("shipping", "Absturz"),
    ]
    taxonomy = Taxonomy.of(entries, tiny.classifier.labels)
    store = Store(tmp_path_factory.mktemp("named"))
    state = replace(tiny.classifier, taxonomy=taxonomy).state()
    store.promote("named", store.write("named", state, tiny.info()))
    return store.path


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A PostgreSQL server; `postgresql.new_database()` is the address of an empty database."""
    if not is_installed():
        pytest.skip("PostgreSQL is not installed")
    server = PostgresqlServer()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def jobs_url(request: pytest.FixtureRequest) -> str | None:
    """LABELSERVE_JOBS_URL for a database of one's own: a test runs once with each kind."""
    if request.param == "sqlite":
        return None
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    return server.new_database()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        opened = playwright.chromium.launch(executable_path=chromium, args=options)
        yield opened
        opened.close()
