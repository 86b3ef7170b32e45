"""A running server with a labels file: names by both ways, and labels that change under it."""

import json
import shutil
from pathlib import Path
from typing import Any

from app.artifacts.store import Store
from app.model import load_model
from app.training.publish import publish
from app.training.relabel import relabel
from tests.reliability.conftest import Started
from tests.reliability.connection import connected, request
from tests.reliability.servers import Server, wait_until

TEXT = "password reset token login locked"


def both_ways(server: Server, **fields: Any) -> Any:
    """The first label of a text, asked in one piece and in two; it is the same."""
    sent = request({"documents": [TEXT], **fields})
    body_at = sent.index(b"\r\n\r\n") + 4
    bodies = []
    with connected(server) as connection:
        for pieces in ([sent], [sent], [sent[:body_at], sent[body_at:]]):
            for piece in pieces:
                connection.send(piece)
            status, _, body = connection.answer()
            assert status == 200
            bodies.append(json.loads(body)["predictions"][0]["labels"][0])
    assert bodies[0] == bodies[1] == bodies[2]
    return bodies[0]


def answering(server: Server) -> str:
    with server.client() as client:
        return str(client.get("/models/named").json()["version"])


def test_a_running_server_takes_relabelled_versions_and_goes_back(
    started: Started, named_models: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    shutil.copytree(named_models, folder)
    store = Store(folder)
    first = store.resolve("named")[1]
    server = started(models_dir=folder, poll_seconds=0.2)
    assert both_ways(server)["name"] == "תקלה בכניסה"
    assert both_ways(server, ancestors=True)["ancestors"][0]["label"] == "crash"
    changed = relabel(load_model(store, "named"), {"login": "sign-in", "printer": ""})
    second = publish(changed.trained, store, "named").version
    wait_until(lambda: answering(server) == second)
    assert both_ways(server)["label"] == "sign-in"
    assert both_ways(server, ancestors=True)["ancestors"][0]["label"] == "crash"
    store.promote("named", first)
    wait_until(lambda: answering(server) == first)
    assert both_ways(server)["label"] == "login"
