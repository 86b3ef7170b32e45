"""The wheel: built, installed into an empty environment, and used from a folder with nothing in it.

Only packages of others are borrowed; nothing of this tree can be imported there.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.harness.processes import free_ports
from bench.harness.server_process import ServerProcess

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "labelserve")
COMPLETED = """
source /dev/stdin <<< "$(labelserve --show-completion)"
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_labelserve_completion labelserve
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by pip from a copy of the tree, so that nothing built before can be in it."""
    copy, target = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy2(ROOT / name, copy / name)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", target, copy)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def binaries(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment with the wheel in it."""
    venv = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    # A path in a .pth file is added as it is: the editable install that lies there stays unknown.
    borrowed = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    pip("--python", venv / "bin" / "python", "install", "--no-deps", "--no-index", wheel)
    return venv / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing in it, far from this tree."""
    return tmp_path_factory.mktemp("empty")


def pip(*words: object) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *map(str, words)], check=True, timeout=120)


def environment(binaries: Path, **more: str) -> dict[str, str]:
    ours = ("PYTHONPATH", "LABELSERVE_", "NUMBA_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = f"{binaries}:{os.environ['PATH']}"
    return {**kept, "PATH": path, "LABELSERVE_KERNELS": "plain", **more}


@pytest.fixture(scope="module")
def trained(binaries: Path, folder: Path) -> Path:
    """The folder after the two commands that `labelserve demo` leads to."""
    said = labelserve(binaries, folder, "demo").stdout
    command = said.partition("labelserve train ")[2].split()
    assert command[0] == "demo/train.jsonl"
    labelserve(binaries, folder, "train", *command, "--folds", "2")
    return folder


def labelserve(
    binaries: Path, folder: Path, *words: object, **more: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [binaries / "labelserve", *map(str, words)],
        cwd=folder,
        env=environment(binaries, **more),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_the_wheel_holds_every_file_of_both_packages(wheel: Path) -> None:
    paths = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()]
    wanted = {str(path.relative_to(ROOT)) for path in paths if "__pycache__" not in path.parts}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == wanted


def test_it_is_the_installed_code_that_runs(binaries: Path, folder: Path) -> None:
    command = [binaries / "python", "-c", "import app, labelserve; print(app.__file__)"]
    given = environment(binaries)
    said = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True).stdout
    assert said.startswith(str(binaries.parent))


def test_from_an_empty_folder_to_labels_and_a_report(binaries: Path, trained: Path) -> None:
    labels = labelserve(binaries, trained, "predict", "demo", "demo/test.jsonl", "--top-k", 1)
    assert len(labels.stdout.splitlines()) == 800
    page = ("--html", "report.html", "--json", "-")
    report = labelserve(binaries, trained, "evaluate", "demo", "demo/test.jsonl", *page)
    assert json.loads(report.stdout)["decisions"]["micro"]["f1"] > 0.8
    assert (trained / "report.html").stat().st_size > 10_000


def test_it_works_from_any_folder(binaries: Path, trained: Path) -> None:
    said = labelserve(binaries, Path("/"), "models", "list", "--models-dir", trained / "models")
    assert (said.returncode, "demo" in said.stdout) == (0, True)


@pytest.fixture(scope="module")
def served(binaries: Path, trained: Path) -> Iterator[int]:
    """The port of `labelserve serve`, with its address from an option and from a variable."""
    (port,) = free_ports(1)
    process = ServerProcess(
        [str(binaries / "labelserve"), "serve", "--port", str(port)],
        port,
        "/health/ready",
        trained / "service.log",
        cwd=trained,
        env=environment(binaries, LABELSERVE_PORT="1", LABELSERVE_DRAIN_SECONDS="0"),
    )
    process.start()
    try:
        process.wait_until_ready()
        yield port
    finally:
        process.end()


def test_it_serves_on_the_port_of_the_option(served: int) -> None:
    body = json.dumps({"documents": ["I would like my money back"]}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{served}/predict", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        labels = json.load(answer)["predictions"][0]["labels"]
    assert [label["label"] for label in labels] == ["refund"]


def test_doctor_finds_nothing_wrong_and_the_service_that_runs(
    binaries: Path, trained: Path, served: int
) -> None:
    done = labelserve(binaries, trained, "doctor", "--port", served, "--json", "-")
    found = {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert (done.returncode, found["model demo"]["state"]) == (0, "good")
    assert found["port"]["found"].endswith("is served by labelserve, which is ready")


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("labelserve ev", {"evaluate"}),
        ("labelserve evaluate de", {"demo"}),
        ("labelserve evaluate demo de", set()),
        ("labelserve train data.csv --learner tr", {"tree", "transformer"}),
        ("labelserve predict demo x --format j", {"json", "jsonl"}),
        ("labelserve serve --po", {"--port"}),
    ],
)
def test_bash_completes_what_was_begun(
    binaries: Path, trained: Path, words: str, completions: set[str]
) -> None:
    done = subprocess.run(
        ["bash", "--norc", "-c", COMPLETED.format(words=words)],
        cwd=trained,
        env=environment(binaries),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (set(done.stdout.split()), done.stderr) == (completions, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_answered_too(binaries: Path, folder: Path, shell: str) -> None:
    asked = {
        "_LABELSERVE_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "labelserve ev",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    said = labelserve(binaries, folder, **asked).stdout
    assert ("evaluate" in said, "predict" in said) == (True, False)


def test_another_package_named_app_is_pointed_out_in_one_sentence(
    binaries: Path, tmp_path: Path
) -> None:
    other = tmp_path / "app" / "__init__.py"
    other.parent.mkdir()
    other.write_text("raise SystemExit('never run')\n")
    done = labelserve(binaries, tmp_path, "--version", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"`import app` finds {other} instead" in done.stderr
    assert labelserve(binaries, tmp_path, "--version").stdout.startswith("labelserve 0.")
