"""The `labelserve` command in this process: what a line prints, and how it ends."""

from collections.abc import Callable

import pytest

from app.cli.labelserve import main

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Runs `labelserve` with these words; gives the exit code, standard output and error."""

    def typed(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["labelserve", *map(str, words)])
        monkeypatch.setattr("__main__.__package__", "")  # typed, and not `python -m pytest`
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, printed.out, printed.err

    return typed
