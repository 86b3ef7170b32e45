"""`labelserve doctor`: what it finds wrong, and that it says how to mend each."""

import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from app import errors
from app.artifacts.store import Store
from app.cli.doctor import installation, service
from app.cli.doctor.finding import Finding
from app.errors import installable
from app.serving.keys import KeysFile
from app.settings import Settings
from tests.scripts.conftest import Typed


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> Path:
    """A store of one whole model, to be damaged."""
    return Path(shutil.copytree(tiny_models, tmp_path / "models"))


@pytest.fixture
def findings(typed: Typed, models: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the doctor with these variables; gives the exit code and the findings by check."""
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")  # and taken back: the doctor sets it, too
    monkeypatch.setenv("LABELSERVE_DATA_DIR", str(models.parent))

    def findings(**variables: str) -> tuple[int, dict[str, Finding]]:
        for name, value in {"MODELS_DIR": str(models), "PORT": "0", **variables}.items():
            monkeypatch.setenv(f"LABELSERVE_{name}", value)
        code, out, _ = typed("doctor", "--json", "-")
        found = [Finding(**finding) for finding in json.loads(out)["findings"]]
        assert json.loads(out)["fine"] == (code == 0)
        assert all(finding.mend for finding in found if finding.state == "wrong")
        return code, {finding.check: finding for finding in found}

    return findings


def test_where_nothing_is_wrong_the_exit_code_is_0_and_the_table_says_so(
    typed: Typed, findings: Any
) -> None:
    code, found = findings()
    assert code == 0
    assert {name for name, finding in found.items() if finding.state == "wrong"} == set()
    assert {"python", "compiler", "kernels", "port", "keys", "disk", "model tiny"} <= set(found)
    assert "nothing is wrong" in typed("doctor")[1]


def test_a_damaged_model_is_named_with_its_file(findings: Any, models: Path) -> None:
    (version,) = Store(models).versions("tiny")
    with (models / "tiny" / version / "labels.npy").open("ab") as file:
        file.write(b"x")
    code, found = findings()
    assert (code, found["model tiny"].state) == (1, "wrong")
    assert "labels.npy" in found["model tiny"].found


def test_a_pointer_that_is_missing_or_wrong_is_found(findings: Any, models: Path) -> None:
    (models / "tiny" / "current").unlink()
    assert "none of its 1 versions is current" in findings()[1]["model tiny"].found
    (models / "tiny" / "current").write_text("20000101T000000-000000\n")
    assert findings()[1]["model tiny"].state == "wrong"


def test_a_model_that_the_settings_ask_for_and_is_not_there_is_wrong(findings: Any) -> None:
    code, found = findings(DEFAULT_MODEL="other")
    assert (code, found["model other"].state) == (1, "wrong")


def test_a_store_without_models_is_no_fault_but_noted(findings: Any, models: Path) -> None:
    shutil.rmtree(models / "tiny")
    code, found = findings()
    assert (code, found["models"].state) == (0, "note")
    models.rmdir()
    assert "there is no folder" in findings()[1]["models"].found


def test_what_an_interrupted_training_left_is_noted_with_its_size(
    findings: Any, models: Path
) -> None:
    left = models / ".checkpoints" / "tickets-0123456789ab" / "cluster"
    left.mkdir(parents=True)
    (left / "some.part").write_bytes(bytes(3_000_000))
    code, found = findings()
    (noted,) = (one for check, one in found.items() if check.startswith("interrupted training"))
    assert (code, noted.state, noted.found) == (0, "note", "3 MB, written 0 days ago")
    assert "--resume" in noted.mend


def test_a_wrong_setting_is_found_and_nothing_that_depends_on_it_is_guessed(findings: Any) -> None:
    code, found = findings(PORT="many")
    assert (code, found["settings"].state) == (1, "wrong")
    assert "LABELSERVE_PORT" in found["settings"].found
    assert "port" not in found


def test_a_port_that_something_else_has_is_wrong(findings: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))  # and does not listen: nothing there answers
        code, found = findings(PORT=str(other.getsockname()[1]))
    assert (code, found["port"].state) == (1, "wrong")


def test_keys_are_missing_expired_readable_by_others_or_good(findings: Any, models: Path) -> None:
    file = models.parent / "keys.json"
    assert findings(API_KEYS_FILE=str(file))[1]["keys"].state == "wrong"
    KeysFile(file).create(["predict"])
    assert findings(API_KEYS_FILE=str(file))[1]["keys"].state == "good"
    file.chmod(0o644)
    assert findings(API_KEYS_FILE=str(file))[1]["keys"].mend == f"chmod 600 {file}"
    past = json.loads(file.read_text())
    past["keys"][0]["expires"] = "2020-01-01T00:00:00Z"
    file.write_text(json.dumps(past))
    assert "0 valid, 1 expired" in findings(API_KEYS_FILE=str(file))[1]["keys"].found
    file.write_text("my notes")
    assert "is not a keys file" in findings(API_KEYS_FILE=str(file))[1]["keys"].found


def test_too_little_space_for_the_largest_test_sets_is_noted(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "new", max_upload_bytes=1 << 50)
    assert service.disk_finding(settings).state == "note"
    assert service.disk_finding(Settings(data_dir=tmp_path / "new")).found.endswith(str(tmp_path))


def test_a_folder_that_cannot_be_written_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert service.disk_finding(Settings(data_dir=tmp_path)).state == "wrong"


def test_an_old_python_is_wrong() -> None:
    assert installation.python_finding((3, 10)).state == "wrong"
    assert installation.python_finding((3, 11)).state == "good"


def test_a_compiler_is_missed_only_where_liblinear_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert installation.compiler_finding().state == "good"
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    assert installation.compiler_finding().state == "wrong"


def test_an_extra_that_is_not_installed_comes_with_the_command_that_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "_is_installed", lambda package: package != "pyarrow")
    found = {finding.check: finding for finding in installation.extras_findings()}
    assert f"pip install {installable('parquet')}" in found["extra parquet"].mend
    assert (found["extra neural"].state, "extra dev" in found) == ("good", False)
    monkeypatch.setattr(installation, "_is_installed", lambda package: package != "msgspec")
    assert installation.packages_finding().found == "not installed: msgspec"


def test_kernels_that_are_plain_or_not_kept_are_noted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(installation, "compiled", lambda: True)
    assert installation.kernels_finding().state == "good"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/nowhere")
    assert "cannot be written" in installation.kernels_finding().found
    monkeypatch.setattr(installation, "compiled", lambda: False)
    assert installation.kernels_finding().state == "note"


def test_what_pip_takes_is_the_checkout_or_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installable("parquet") == "-e '.[parquet]' (in its checkout)"
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "app" / "errors.py"))
    assert installable("parquet") == "'labelserve[parquet]'"
