"""The environment, read once and strictly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import SettingsError
from app.settings import PREFIX, Settings, table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "settings.md"


def test_the_page_of_settings_is_what_the_code_says() -> None:
    assert table() in PAGE.read_text()


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"LABELSERVE_PROT": "8000"}, "unknown: LABELSERVE_PROT"),
        ({"LABELSERVE_PORT": "eighty"}, "LABELSERVE_PORT"),
        ({"LABELSERVE_PORT": "70000"}, "LABELSERVE_PORT"),
        ({"LABELSERVE_HOST": "0.0.0.0"}, "spell out LABELSERVE_AUTH=none"),  # noqa: S104
        ({"LABELSERVE_HOST": "::"}, "spell out LABELSERVE_AUTH=none"),
        ({"LABELSERVE_AUTH": "keys"}, "LABELSERVE_API_KEYS_FILE"),
        ({"LABELSERVE_AUTH": "proxy"}, "LABELSERVE_TRUSTED_PROXIES"),
        ({"LABELSERVE_AUTH": "proxy", "LABELSERVE_TRUSTED_PROXIES": "x"}, "x"),
        ({"LABELSERVE_ROOT_PATH": "no-slash"}, "LABELSERVE_ROOT_PATH"),
        ({"LABELSERVE_DEFAULT_MODEL": "../x"}, "LABELSERVE_DEFAULT_MODEL"),
        ({"LABELSERVE_MAX_DOCUMENTS": "0"}, "LABELSERVE_MAX_DOCUMENTS"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_names_itself(
    environment: dict[str, str], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        Settings.from_environment(environment)


def test_good_settings_are_read_and_others_left_alone() -> None:
    found = Settings.from_environment(
        {
            "HOME": "/nowhere",
            "LABELSERVE_TEST_ALL": "1",
            "LABELSERVE_PORT": "9000",
            "LABELSERVE_HOST": "0.0.0.0",  # noqa: S104
            "LABELSERVE_AUTH": "none",
            "LABELSERVE_REQUIRED_MODELS": "a, b",
            "LABELSERVE_DEFAULT_MODEL": "",
        }
    )
    assert (found.port, found.required_models, found.default_model) == (9000, ("a", "b"), None)
    assert found.effective_auth == "none"
    assert Settings(api_keys_file=Path("k")).effective_auth == "keys"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"LABELSERVE_NONSENSE": "1"}, "unknown: LABELSERVE_NONSENSE"),
        ({"LABELSERVE_API_KEYS_FILE": "/nowhere/keys.json"}, "there is no keys file /nowhere"),
        ({"LABELSERVE_API_KEYS_FILE": str(PAGE)}, f"{PAGE} is not a keys file"),
    ],
)
def test_a_start_that_cannot_be_says_so_in_one_line(
    environment: dict[str, str], words: str
) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "app.main"],
        env={"PATH": "", **environment},
        cwd=PAGE.parents[1],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 1
    assert found.stderr.startswith(f"labelserve cannot start: {words}")
    assert "Traceback" not in found.stderr


def test_importing_the_service_imports_no_heavy_package() -> None:
    program = (
        "import sys, app.main;"
        "print(sorted({'torch', 'sklearn', 'numba', 'joblib'} & sys.modules.keys()))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PAGE.parents[1],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert found.stdout.strip() == "[]"


def test_a_worker_uses_the_kernels_that_its_settings_name() -> None:
    program = (
        "import app.main, app.kernels; from app.settings import Settings;"
        "app.main.serve = lambda *arguments, **named: print(app.kernels.compiled());"
        "app.main.work(Settings(kernels='plain'), None)"
    )
    env = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"False"]
