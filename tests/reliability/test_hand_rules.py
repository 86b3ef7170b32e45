"""`labelserve rules apply` under a running server: every way of asking has the rules applied."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.artifacts.store import Store
from app.cli.commands.rules import app as rules
from tests.reliability.connection import connected, request
from tests.reliability.servers import Server, start, wait_until

RULES = """[[rule]]
label = "printer"
when = '"locked account" | tokens'
then = "assign"

[[rule]]
label = "login"
when = "password & !credentials"
then = "forbid"
"""
ASSIGNED = "locked account login sign credentials token"
FORBIDDEN = "password reset login sign token"
UNTOUCHED = "account login sign credentials locked"
TEXTS = [ASSIGNED, FORBIDDEN, UNTOUCHED]
BEFORE = [{"login"}, {"login"}, {"login"}]
AFTER = [{"login", "printer"}, set[str](), {"login"}]
BECAUSE = {"rule": '"locked account" | tokens', "weight": 0.0}

Answers = list[list[dict[str, Any]]]


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path) -> Iterator[Server]:
    """A server that ran while rules were applied to its model, and has taken the new version."""
    folder = tmp_path_factory.mktemp("ruled")
    models = folder / "models"
    shutil.copytree(tiny_models, models)
    server = start(folder, models_dir=models, poll_seconds=0.2)
    try:
        assert names(as_json(server)) == BEFORE
        (folder / "rules.toml").write_text(RULES)
        command = ["apply", "tiny", str(folder / "rules.toml"), "--models-dir", str(models)]
        done = CliRunner().invoke(rules, command)
        assert done.exit_code == 0, done.output
        version = Store(models).resolve("tiny")[1]
        with server.client() as client:
            wait_until(lambda: client.get("/models/tiny").json()["version"] == version)
        yield server
    finally:
        server.stop()


def names(answers: Answers) -> list[set[str]]:
    return [{label["label"] for label in labels} for labels in answers]


def as_json(server: Server) -> Answers:
    """Texts one by one, each whole and in two pieces: at once and the ordinary way."""
    answers = []
    with connected(server) as connection:
        for text in TEXTS:
            sent = request({"documents": [text], "explain": 1})
            body_at = sent.index(b"\r\n\r\n") + 4
            bodies = []
            for pieces in ([sent], [sent], [sent[:body_at], sent[body_at:]]):
                for piece in pieces:
                    connection.send(piece)
                bodies.append(json.loads(connection.answer()[2])["predictions"][0]["labels"])
            assert bodies[0] == bodies[1] == bodies[2]
            answers.append(bodies[0])
    return answers


def as_ndjson(server: Server) -> Answers:
    lines = "\n".join(json.dumps({"text": text}) for text in TEXTS)
    headers = {"content-type": "application/x-ndjson"}
    with server.client() as client:
        answer = client.post("/predict?explain=1", content=lines.encode(), headers=headers)
    return [json.loads(line)["labels"] for line in answer.text.splitlines()]


@pytest.mark.parametrize("ask", [as_json, as_ndjson])
def test_rules_assign_and_forbid_labels_and_because_names_the_rule(
    ruled: Server, ask: Callable[[Server], Answers]
) -> None:
    answers = ask(ruled)
    assert names(answers) == AFTER
    printer = next(label for label in answers[0] if label["label"] == "printer")
    assert printer["because"][0] == BECAUSE
    assert "threshold" not in printer
    assert "term" in answers[2][0]["because"][0]


def test_a_table_has_the_labels_and_reasons_of_the_rules(ruled: Server) -> None:
    table = "text\n" + "\n".join(TEXTS)
    with ruled.client() as client:
        answer = client.post(
            "/predict?explain=1", content=table.encode(), headers={"content-type": "text/csv"}
        )
    rows = list(csv.DictReader(StringIO(answer.text)))
    assert [set(filter(None, row["labels"].split("|"))) for row in rows] == AFTER
    assert BECAUSE["rule"] in rows[0]["reasons"]


def test_an_evaluation_counts_what_the_rules_decide(ruled: Server) -> None:
    true = [["login", "printer"], ["login"], ["login", "printer"]]
    lines = [json.dumps({"text": t, "labels": own}) for t, own in zip(TEXTS, true, strict=True)]
    headers = {"content-type": "application/x-ndjson"}
    with ruled.client() as client:
        report = client.post("/evaluate", content="\n".join(lines), headers=headers).json()
    cells = {one["label"]: (one["tp"], one["fp"], one["fn"]) for one in report["labels"]}
    assert cells["login"] == (2, 0, 1)
    assert cells["printer"] == (1, 0, 1)
    assert report["decisions"]["micro"]["precision"] == 1.0
