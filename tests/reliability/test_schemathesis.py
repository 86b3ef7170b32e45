"""Schemathesis reads the OpenAPI document and tries to break the service: no check may fail."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from app.api.http.media_types import NAMED
from app.serving.keys import KeysFile
from tests.reliability.conftest import Started

# Whether a request is right can depend on what no schema says: the labels of a model, the text of a
# test set, the hash of a body, the figures of an evaluation, two fields that exclude each other.
# There a 422 is the right answer to a "valid" request.
CONFIG = """
[parameters]
"path.name" = "tiny"
"query.label" = "billing"

[[operations]]
include-method = "POST"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422"]

[[operations]]
include-path = "/models/{name}/label"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422"]

[[operations]]
include-path = "/leaderboards/{sha256}"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422"]

[[operations]]
include-path = "/uploads/{sha256}"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422"]
"""
EXAMPLES = 2
SECONDS = "120"
"""More than 10 s are a failure by default. On a busy machine the first evaluation took 14, as it
starts a process that imports everything; `make soak` is where times are judged."""
IN_WORDS = {
    "/predict": ["application/x-ndjson", "text/csv"],
    "/evaluate": NAMED,
    "/evaluations": NAMED,
}
"""Media types that the document has in words, as generators of clients know none of them."""


def with_every_media_type(document: dict[str, Any]) -> dict[str, Any]:
    for path, media_types in IN_WORDS.items():
        body = document["paths"][path]["post"]["requestBody"]
        for media_type in media_types:
            assert media_type in body["description"]
            body["content"][media_type] = {"schema": {"type": "string", "format": "binary"}}
    return document


def test_no_check_fails(started: Started, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    _, secret = KeysFile(keys).create(["admin"])
    server = started(api_keys_file=keys, max_upload_bytes=1_000_000)
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    document = tmp_path / "openapi.json"
    with server.client() as client:
        found = client.get("/openapi.json").json()
    document.write_text(json.dumps(with_every_media_type(found)))
    ended = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)),
            *("run", str(document), "--url", server.url),
            *("--header", f"Authorization: Bearer {secret}"),
            *("--phases", "examples,coverage,fuzzing", "--checks", "all"),
            *("--max-response-time", SECONDS, "--request-timeout", SECONDS),
            *("--max-examples", str(EXAMPLES), "--seed", "1", "--generation-database", "none"),
            *("--suppress-health-check", "all", "--no-color"),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=tmp_path,
        check=False,
    )
    said = "\n".join([ended.stdout, ended.stderr, server.log.read_text()[-5000:]])
    assert ended.returncode == 0, said
