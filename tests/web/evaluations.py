"""Test sets for the views of evaluations, and evaluations made before a view is opened."""

import json
from pathlib import Path
from typing import Any

from tests.reliability.servers import wait_until
from tests.web.sites import Site

N = 60
SECONDS = 120


def documents(corpus: Path) -> list[dict[str, Any]]:
    """Some test documents of the demo corpus."""
    lines = (corpus / "test.jsonl").read_text(encoding="utf-8").splitlines()[:N]
    return [json.loads(line) for line in lines]


def write_lines(file: Path, content: list[dict[str, Any]]) -> Path:
    """The documents as JSON lines."""
    file.write_text("".join(json.dumps(one) + "\n" for one in content), encoding="utf-8")
    return file


def evaluated(site: Site, file: Path, **query: Any) -> dict[str, Any]:
    """An evaluation of this file that is done."""
    with site.server.client() as client:
        files = {"file": (file.name, file.read_bytes())}
        answer = client.post("/evaluations", params=query, files=files)
        assert answer.status_code == 202, answer.text
        path = f"/evaluations/{answer.json()['evaluations'][0]['id']}"
        wait_until(lambda: client.get(path).json()["state"] == "done", SECONDS)
        found: dict[str, Any] = client.get(path).json()
    return found
