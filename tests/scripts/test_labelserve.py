"""`labelserve`, the one command: its list, its help, its errors, and what it does not import."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from app.artifacts.store import Store
from app.catalogue import find
from app.cli.commands import COMMANDS
from app.cli.labelserve import PLACES
from app.settings import Settings
from tests.scripts.conftest import Typed

ROOT = Path(__file__).parents[2]
SCRIPTS = {path.stem for path in (ROOT / "scripts").glob("*.py")} - {"installed"}
HEAVY = {"fastapi", "msgspec", "numba", "numpy", "pydantic", "scipy", "torch", "uvicorn"}
MODULES = """
import sys
sys.argv = ["labelserve", *sys.argv[1:]]
from labelserve.__main__ import main
try:
    main()
finally:
    print("modules:", *sys.modules)
"""


def lines() -> dict[str, Any]:
    """Every command and every command of a group, as typed."""
    found: dict[str, Any] = {}
    for name in COMMANDS:
        found[name] = loaded = typer.main.get_command(find(PLACES, name, "command"))
        below = loaded.commands if isinstance(loaded, typer.core.TyperGroup) else {}
        found |= {f"{name} {word}": command for word, command in below.items()}
    return found


LINES = lines()


def test_every_script_is_a_command() -> None:
    modules = {place.partition(":")[0].rpartition(".")[2] for place in PLACES.values()}
    assert modules >= SCRIPTS


def test_the_list_names_every_command_and_cuts_no_line_short(typed: Typed) -> None:
    code, out, _ = typed("--help")
    assert code == 0
    for name, (_, line) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_described_in_the_docs(name: str) -> None:
    assert f"| `labelserve {name}" in (ROOT / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("line", LINES)
def test_every_help_explains_each_option_and_names_the_command_as_typed(
    typed: Typed, line: str
) -> None:
    code, out, _ = typed(*line.split(), "--help")
    assert (code, out.startswith(f"Usage: labelserve {line} ")) == (0, True)
    assert "scripts/" not in out
    assert "..." not in out.partition("Commands:")[2]
    assert [option.name for option in LINES[line].params if not option.help] == []
    if line in COMMANDS:
        assert f"  labelserve {line}" in out.partition("Examples:")[2]


def test_a_script_names_itself_in_its_help() -> None:
    command = [sys.executable, "scripts/train.py", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "Usage: train.py " in done.stdout
    assert "  train.py tickets.jsonl --model tickets" in done.stdout


@pytest.mark.parametrize("words", ["--version", "--help", "keys --help", "demo --help"])
def test_what_needs_no_mathematics_imports_none(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *words.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    imported = set(done.stdout.partition("modules:")[2].split())
    allowed = {"msgspec", "pydantic"} if words.startswith("keys") else set()
    assert imported & (HEAVY - allowed) == set()


def test_a_wrong_word_is_answered_with_the_nearest_command(typed: Typed) -> None:
    code, _, err = typed("evalute", "demo")
    assert code == 2
    assert "Did you mean 'evaluate'?" in err


def test_options_of_serve_are_settings_and_win_over_the_environment(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("app.main.main", lambda environment: given.update(environment))
    monkeypatch.setenv("LABELSERVE_PORT", "7000")
    monkeypatch.setenv("LABELSERVE_POLL_SECONDS", "9")
    words = ("--models-dir", "store", "--default-model", "m", "--host", "::1", "--log-level")
    assert typed("serve", *words, "error", "--workers", 3, "--port", 0)[0] == 0
    settings = Settings.from_environment(given)
    assert (settings.port, settings.host, settings.workers) == (0, "::1", 3)
    assert (str(settings.models_dir), settings.default_model) == ("store", "m")
    assert (settings.log_level, settings.poll_seconds) == ("error", 9)


def test_demo_writes_here_by_default_and_says_how_to_train(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = typed("demo")
    assert (code, (tmp_path / "demo" / "train.jsonl").is_file()) == (0, True)
    assert "labelserve train demo/train.jsonl --model demo --test demo/test.jsonl" in out


WITH_A_MODEL = [
    ("predict", "other", "DATA"),
    ("evaluate", "other", "DATA"),
    ("compare", "tiny", "other", "DATA"),
    ("retune", "other", "DATA"),
    ("models", "show", "other"),
    ("models", "verify", "other"),
    ("models", "use", "other"),
    ("models", "remove", "other"),
    ("models", "prune", "other", "--keep", "1"),
]


@pytest.mark.parametrize("words", WITH_A_MODEL, ids=lambda words: " ".join(words[:2]))
def test_a_missing_model_is_answered_with_those_that_are_there(
    typed: Typed, tiny_models: Path, corpus_file: Path, words: tuple[str, ...]
) -> None:
    line = [str(corpus_file) if word == "DATA" else word for word in words]
    (version,) = Store(tiny_models).versions("tiny")
    code, _, err = typed(*line, "--models-dir", tiny_models)
    assert (code, f"there are: tiny ({version} *)" in err) == (1, True)


def test_without_any_model_the_answer_says_how_to_make_one(typed: Typed, tmp_path: Path) -> None:
    code, _, err = typed("models", "show", "demo", "--models-dir", tmp_path)
    assert (code, "labelserve train DATA --model NAME" in err) == (1, True)
    assert "labelserve train DATA" in typed("models", "list", "--models-dir", tmp_path)[1]
    code, _, err = typed("models", "show", "demo", "--models-dir", tmp_path / "nowhere")
    assert code == 1
    says = f"there is no folder {tmp_path / 'nowhere'}; --models-dir names another"
    assert says in err
    assert says in typed("models", "list", "--models-dir", tmp_path / "nowhere")[1]


def test_without_any_key_the_answer_says_how_to_make_one(typed: Typed, tmp_path: Path) -> None:
    make = f"labelserve keys create --scope predict,evaluate --file {tmp_path / 'keys.json'}"
    assert make in typed("keys", "list", "--file", tmp_path / "keys.json")[1]
    assert typed(*make.split()[1:])[0] == 0


def test_of_many_versions_the_newest_are_named_and_the_others_counted(
    typed: Typed, tmp_path: Path
) -> None:
    versions = [f"2026111{day}T000000-00000{day}" for day in range(6)]
    for version in versions:
        (tmp_path / "m" / version).mkdir(parents=True)
    _, _, err = typed("models", "show", "other", "--models-dir", tmp_path)
    assert f"there are: m ({', '.join(versions[:-4:-1])}, 3 older)" in err


def test_the_store_of_the_service_is_the_store_of_the_commands(
    typed: Typed, tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_MODELS_DIR", str(tiny_models))
    code, out, _ = typed("models", "list")
    assert (code, "tiny" in out) == (0, True)
