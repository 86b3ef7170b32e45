"""A version tried on live traffic by a real service of several workers, under load."""

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from app.artifacts.store import Store
from app.artifacts.trials import KINDS, VersionTrial
from app.model import load_model
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, wait_until

TEXTS = ["the app crashes at login", "an invoice and a refund", "toner and paper jam"]


def told(server: Server, kind: str) -> dict[str, Any]:
    with server.client() as client:
        found: dict[str, Any] = client.get(f"/models/tiny/{kind}").json()
    return found


def ask(server: Server, callers: list[str]) -> list[tuple[int, str]]:
    """Status and version of one answer a caller, each over a connection of its own."""

    def one(caller: str) -> tuple[int, str]:
        with server.client() as client:
            body = {"documents": TEXTS}
            answer = client.post("/predict", json=body, headers={"x-caller": caller})
        return answer.status_code, answer.headers.get("x-model-version", "")

    with ThreadPoolExecutor(4) as clients:
        return list(clients.map(one, callers))


def test_trials_run_in_every_worker_and_their_figures_are_summed(
    started: Started, tiny_models: Path, tmp_path: Path
) -> None:
    store = Store(Path(shutil.copytree(tiny_models, tmp_path / "models")))
    tiny = load_model(store, "tiny")
    new = store.write("tiny", tiny.classifier.state(), tiny.info())
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    store.begin_trial("tiny", "canary", VersionTrial(new, 0.4, by="x-caller"))
    server = started(models_dir=store.path, workers=2, poll_seconds=0.1)
    callers = [f"caller {number}" for number in range(60)]
    first, again = ask(server, callers), ask(server, callers)
    assert first == again
    assert {status for status, _ in first} == {200}
    sides = Counter(version for _, version in first)
    assert set(sides) == {new, tiny.version}
    expected = {"current": 2 * sides[tiny.version], "canary": 2 * sides[new]}

    def is_counted() -> bool:
        found = told(server, "canary")["sides"]
        return {side: own["answered"] for side, own in found.items()} == expected

    wait_until(is_counted)
    wait_until(lambda: n_looked_at(server) == len(TEXTS) * expected["current"])
    figures = told(server, "shadow")["figures"]
    assert figures["failed"] == 0
    assert figures["all_labels"]["both"] > 0
    assert figures["all_labels"]["only_current"] == figures["all_labels"]["only_shadow"] == 0
    for kind in KINDS:
        store.end_trial("tiny", kind)
    wait_until(lambda: set(ask(server, callers[:8])) == {(200, tiny.version)})


def n_looked_at(server: Server) -> int:
    """Documents that were compared, or dropped."""
    figures = told(server, "shadow")["figures"]
    return int(figures["compared"] + figures["dropped"])
