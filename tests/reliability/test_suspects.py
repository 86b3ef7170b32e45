"""Suspects of an uploaded test set, by a real server."""

import json
from pathlib import Path

from tests.reliability.servers import Server

NDJSON = {"content-type": "application/x-ndjson"}


def test_a_wrong_label_of_an_upload_is_told_by_id_and_line_without_its_text(
    server: Server, corpus_file: Path
) -> None:
    records = [json.loads(line) for line in corpus_file.read_text().splitlines()]
    wrong = next(n for n, one in enumerate(records) if one["labels"] == ["login"])
    records[wrong]["labels"] = ["printer"]
    body = "".join(json.dumps(one) + "\n" for one in records)
    with server.client() as client:
        answer = client.post("/evaluate?suspects=2", content=body, headers=NDJSON)
        plain = client.post("/evaluate", content=body, headers=NDJSON).json()
        refused = client.post("/evaluate?suspects=10001", content=body, headers=NDJSON)
    assert answer.status_code == 200, answer.text
    found = answer.json()["suspects"]
    assert {(one["id"], one["line"]) for one in found} == {(records[wrong]["id"], wrong + 1)}
    assert {(one["label"], one["kind"]) for one in found} == {
        *(("login", "missing"), ("printer", "wrong"))
    }
    assert set(found[0]) == {"id", "line", "label", "kind", "probability"}
    assert "suspects" not in plain
    assert refused.status_code == 422
