"""`make containers`, as far as it goes without a container."""

import subprocess
import sys
from pathlib import Path

import pytest
from containers.client import Answer
from containers.engine.command import CommandError, run
from containers.images.base_images import STANDINS, kind, published
from containers.images.pip_settings import named_files
from containers.load import Count, total
from containers.report import Report

ROOT = Path(__file__).parents[2]


def test_its_help_needs_no_engine_and_no_package() -> None:
    command = [sys.executable, "-I", "-S", ROOT / "scripts" / "containers" / "run.py", "--help"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert all(option in printed for option in ("--yes", "--only", "--neural", "--fresh"))


def test_every_image_that_compose_names_can_be_stood_in_for() -> None:
    files = [ROOT / "docker-compose.yml", ROOT / "deploy" / "haproxy" / "compose.yml"]
    kinds = {kind(name) for name in published(files)}
    assert kinds == {"nginx", "haproxy", "prometheus", "postgres"}
    assert kinds == {file.stem for file in STANDINS.glob("*.Dockerfile")}


def test_only_what_names_a_time_to_try_again_is_no_loss() -> None:
    answers = [(200, ""), (503, "1"), (503, ""), (502, "1"), (429, "1")]
    counts = []
    for status, again in answers:
        counts.append(Count())
        counts[-1].add(Answer(status, {"retry-after": again} if again else {}, b""))
    count = total(counts)
    assert (count.requests, count.answered, count.turned_away) == (5, 1, 2)
    assert dict(count.lost) == {"status 503": 1, "status 502": 1}
    assert str(count) == "4 of 5; status 502: 1; status 503: 1"


def test_a_check_that_fails_is_told_and_the_next_one_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = Report()

    def fails() -> None:
        report.found("a figure")
        raise CommandError("no room")

    assert not report.check("first", fails)
    assert report.check("second", lambda: report.expect(True, "never told"))
    assert not report.is_good
    assert "FAILED" in capsys.readouterr().out
    assert "| first | a figure; **CommandError: no room** |" in report.table()


def test_a_program_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import sys; print('out'); sys.exit('why')"]
    with pytest.raises(CommandError, match="exit code 1\nwhy"):
        run(words)
    log = tmp_path / "log"
    with pytest.raises(CommandError, match="why"):
        run(words, log=log)
    assert "out" in log.read_text()
    assert run([sys.executable, "-c", "print('out')"]) == "out\n"


def test_a_program_that_takes_too_long_is_ended() -> None:
    with pytest.raises(CommandError, match="not done after"):
        run([sys.executable, "-c", "import time; time.sleep(600)"], seconds=0.5)


def test_files_that_pip_settings_name_are_mounted_and_nothing_else(tmp_path: Path) -> None:
    index = tmp_path / "index" / "simple"
    index.mkdir(parents=True)
    (tmp_path / "wheels").mkdir()
    settings = {
        "extra-index-url": f"file://{index} https://packages.example/simple",
        "find-links": f"{tmp_path / 'wheels'} {tmp_path / 'missing'}",
        "timeout": "60",
    }
    assert named_files(settings) == [str(tmp_path / "index"), str(tmp_path / "wheels")]
