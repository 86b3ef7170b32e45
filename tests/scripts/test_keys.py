"""`scripts/keys.py` through the door: what it prints is what the service takes."""

import json
import os
import stat
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.errors import UnauthorizedError
from app.serving.identity import KeyLimits
from app.serving.keys import KeysFile

ROOT = Path(__file__).parents[2]


def keys(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(ROOT / "scripts" / "keys.py"), *map(str, arguments)]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LABELSERVE_")}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, env=clean | environment
    )


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    file = tmp_path / "below" / "keys.json"
    made = keys("create", "--scope", "predict,evaluate", "--models", "team-a-*", "--file", file)
    assert made.returncode == 0, made.stderr
    secret = made.stdout.splitlines()[-1].strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret not in file.read_text()
    who = KeysFile(file).identify(secret.encode())
    assert (who.scopes, who.models) == ({"predict", "evaluate"}, ("team-a-*",))
    listed = keys("list", LABELSERVE_API_KEYS_FILE=str(file))
    assert who.name in listed.stdout
    assert "team-a-*" in listed.stdout
    assert secret not in listed.stdout
    assert keys("revoke", who.name, "--file", file).returncode == 0
    with pytest.raises(UnauthorizedError):
        KeysFile(file).identify(secret.encode())


def test_json_has_the_secret_once_and_the_list_never(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    made = json.loads(keys("create", "--scope", "admin", "--file", file, "--json", "-").stdout)
    assert KeysFile(file).identify(made["secret"].encode()).scopes == {"admin"}
    (line,) = json.loads(keys("list", "--file", file, "--json", "-").stdout)["keys"]
    assert line == {name: value for name, value in made.items() if name != "secret"}


def test_a_key_with_an_end_and_limits_says_so_in_the_list(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    options = ("--expires", "90d", "--requests-per-minute", 60, "--documents-per-day", 5000)
    made = keys("create", "--scope", "predict", *options, "--file", file, "--json", "-")
    found = json.loads(made.stdout)
    end = datetime.fromisoformat(found["created"]) + timedelta(days=90)
    assert datetime.fromisoformat(found["expires"]) == end
    assert (found["requests_per_minute"], found["documents_per_day"]) == (60, 5000)
    keys("create", "--scope", "admin", "--file", file)
    listed = keys("list", "--file", file).stdout
    assert f"{end:%Y-%m-%d %H:%M}" in listed
    assert all(word in listed for word in ("60", "5000", "never", "no limit"))
    limits = KeysFile(file).identify(found["secret"].encode()).limits
    assert limits == KeyLimits(60, 5000)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", "--scope", "predict", "--expires", "soon"), "such as 90d"),
        (("create", "--scope", "predict", "--requests-per-minute", "0"), "requests-per-minute"),
        (("create", "--scope", "everything"), "scopes are one or more of: predict"),
        (("create", "--scope", ""), "scopes are one or more of: predict"),
        (("revoke", "nobody"), "no such key; there are: none"),
    ],
)
def test_what_cannot_be_is_said_in_a_line_and_writes_nothing(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    file = tmp_path / "keys.json"
    done = keys(*arguments, "--file", file)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not file.exists()


def test_a_file_that_holds_no_keys_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text("my notes")
    done = keys("create", "--scope", "predict", "--file", file)
    assert done.returncode == 1
    assert "is not a keys file" in done.stderr
    assert file.read_text() == "my notes"
