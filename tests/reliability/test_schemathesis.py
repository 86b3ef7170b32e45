"""Schemathesis reads the OpenAPI document and tries to break the service: no check may fail."""

import subprocess
import sys
from pathlib import Path

from app.serving.keys import KeysFile
from tests.reliability.conftest import Started

# Whether a body is right can depend on what no schema says: the labels of a model, the text of a
# test set, two fields that exclude each other. There a 422 is the right answer to a "valid" body.
CONFIG = """
[parameters]
"path.name" = "tiny"

[[operations]]
include-method = "POST"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "422"]
"""
EXAMPLES = 2
SECONDS = "120"
"""More than 10 s are a failure by default. On a busy machine the first evaluation took 14, as it
starts a process that imports everything; `make soak` is where times are judged."""


def test_no_check_fails(started: Started, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    _, secret = KeysFile(keys).create(["admin"])
    server = started(api_keys_file=keys, max_upload_bytes=1_000_000)
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    found = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)),
            *("run", f"{server.url}/openapi.json", "--header", f"Authorization: Bearer {secret}"),
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
    said = "\n".join([found.stdout, found.stderr, server.log.read_text()[-5000:]])
    assert found.returncode == 0, said
