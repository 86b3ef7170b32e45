"""Slips of operators: each is told in a sentence, or mended, and none is a traceback."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.conftest import Started
from tests.reliability.servers import ROOT, free_port, lines

LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
NDJSON = {"content-type": "application/x-ndjson"}


def refusal(folder: Path, **settings: object) -> str:
    """What a server says that cannot start."""
    ours = {f"LABELSERVE_{name.upper()}": str(value) for name, value in settings.items()}
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LABELSERVE_")}
    done = subprocess.run(
        [sys.executable, "-m", "app.main"],
        cwd=ROOT,
        env={**clean, "LABELSERVE_DATA_DIR": str(folder), **ours},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    *logged, said = done.stderr.strip().splitlines()
    assert all(line.startswith("{") for line in logged), done.stderr
    return said


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_for_figures_that_cannot_be_had_is_told_in_a_sentence(
    tmp_path: Path, workers: int
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal(tmp_path, port=0, metrics_port=port, workers=workers)
        assert "LABELSERVE_METRICS_PORT" in said
        assert f"127.0.0.1:{port}: EADDRINUSE (98)" in said
        assert "EADDRINUSE (98)" in refusal(tmp_path, port=port, workers=workers)


def test_one_port_for_two_things_is_refused(tmp_path: Path) -> None:
    port = free_port()
    said = refusal(tmp_path, port=port, metrics_port=port)
    assert said.endswith("LABELSERVE_METRICS_PORT and LABELSERVE_PORT must differ")


def test_a_keys_file_with_a_value_of_the_wrong_kind_is_refused_by_its_place(
    tmp_path: Path,
) -> None:
    file = tmp_path / "keys.json"
    file.write_text('{"keys": [{"id": 7}]}')
    said = refusal(tmp_path, api_keys_file=file, port=0)
    assert f"{file} is not a keys file of labelserve keys" in said
    assert "$.keys[0].id" in said


def test_a_spool_that_is_removed_under_way_is_made_again(started: Started) -> None:
    server = started()
    with server.client() as client:
        for removed in (server.data_dir / "spool", server.data_dir):
            shutil.rmtree(removed)
            answer = client.post("/evaluate", content=LINE, headers=NDJSON)
            assert answer.status_code == 200, answer.text
    assert any("was removed" in line.get("message", "") for line in lines(server.log))
