"""Compiled or plain: what decides it, and where the machine code is kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import SettingsError
from app.kernels import KERNELS, compiled, kernels, warm

ROOT = Path(__file__).parents[2]
FILL = (
    "from app.kernels.vocabulary import hashing; hashing.warm(); stats = hashing.fill_table.stats;"
)
HITS = f"{FILL} print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))"
NOTHING_CAN_BE_WRITTEN = """
import builtins, errno, os, tempfile
def refuse(*arguments, **options):
    raise OSError(errno.EROFS, "read-only file system")
def read_only(file, mode="r", *arguments, **options):
    return refuse() if set(mode) & set("wax+") else genuine(file, mode, *arguments, **options)
genuine, builtins.open = builtins.open, read_only
os.makedirs = tempfile.TemporaryFile = os.replace = refuse
"""


def ran(program: str, **environment: str) -> str:
    env = {**os.environ, **environment}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_setting_that_is_neither_auto_nor_plain_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", "fast")
    with pytest.raises(SettingsError, match="'auto' or 'plain'"):
        compiled()


def test_plain_is_chosen_by_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    assert kernels("text.tokens").__name__ == "app.kernels.text.tokens_plain"
    monkeypatch.setenv("LABELSERVE_KERNELS", "auto")
    assert kernels("text.tokens").__name__ == "app.kernels.text.tokens"


def test_every_kernel_has_a_plain_twin_with_the_same_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in KERNELS:
        monkeypatch.setenv("LABELSERVE_KERNELS", "auto")
        fast = kernels(name)
        monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
        plain = kernels(name)
        own = [n for n, f in vars(plain).items() if getattr(f, "__module__", "") == plain.__name__]
        public = {n for n in own if not n.startswith("_")} - {"hash_of", "n_slots"}
        assert public <= set(vars(fast)), name


def test_warming_says_what_it_loads_and_does_nothing_for_plain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", "auto")
    said: list[tuple[str, int, int]] = []
    names = ("vocabulary.hashing", "text.tfidf")
    warm(lambda *step: said.append(step), names)
    assert said[0] == ("loading kernels · vocabulary.hashing", 0, 2)
    assert said[-1] == ("loading kernels", 2, 2)
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    said.clear()
    warm(lambda *step: said.append(step))
    assert said == []


def test_without_the_compiler_the_plain_version_answers() -> None:
    program = (
        "import sys; sys.modules['numba'] = None;"
        "from app.vectorizers.tfidf import Tfidf; v = Tfidf(); v.fit_transform(['ab cd', 'cd']);"
        "print(v.terms(), v.transform(['cd']).data.tolist())"
    )
    assert ran(program, LABELSERVE_KERNELS="auto") == "['ab', 'cd'] [1.0]"


def test_the_compiler_is_not_imported_before_a_text_comes() -> None:
    program = (
        "import sys, app.classifier, app.vectorizers.tfidf, app.kernels.linear.fused_scorer;"
        "app.vectorizers.tfidf.Tfidf(); print('numba' in sys.modules)"
    )
    assert ran(program) == "False"


def test_machine_code_is_kept_and_found_again_where_nothing_can_be_written(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert ran(HITS, **cache) == "0 1"
    assert ran(NOTHING_CAN_BE_WRITTEN + HITS, **cache) == "1 0"


def test_a_cache_that_is_empty_and_cannot_be_written_costs_only_time() -> None:
    cache = {"NUMBA_CACHE_DIR": "/dev/null/nowhere"}
    assert ran(NOTHING_CAN_BE_WRITTEN + HITS, **cache) == "0 1"
