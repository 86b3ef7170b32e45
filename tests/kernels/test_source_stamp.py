"""Cached machine code is stale as soon as anything it was built of has changed."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.kernels.source_stamp import built_of, imported

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "app" / "kernels"
MODULES = sorted(
    ".".join(file.relative_to(KERNELS).with_suffix("").parts)
    for file in KERNELS.rglob("*.py")
    if file.name != "__init__.py"
)
OUTER = """
from app.kernels.compiler import kernel
from app.kernels.tree import (
    made_up,
)

@kernel
def answer():
    return made_up.inner_answer()

def ask():
    value = answer()
    return value, sum(answer.stats.cache_hits.values())
"""
INNER = """
from app.kernels.compiler import inner

@inner
def inner_answer():
    return {}
"""
ASK = "from app.kernels.text.made_up import ask; print(*ask())"


@pytest.mark.parametrize(
    "statement",
    [
        "from app.kernels.text.types import Terms",
        "from app.kernels.text.types import (\n    Segments,\n    Terms,\n)",
        "from app.kernels.text import types",
        "from app.kernels.text import analysis, types as kinds",
        "from app.kernels.text import (\n    analysis,  # first\n    types,\n)",
        "from app.kernels.text.types \\\n    import Terms",
        "import app.kernels.text.types",
        "import app.kernels.text.types as types",
        "import app.errors, app.kernels.text.types",
        "def warm():\n    from app.kernels.text.types import Terms",
    ],
)
def test_every_form_of_an_import_is_seen(statement: str) -> None:
    assert "text.types" in imported(f"import numpy\n{statement}\nx = 1\n")


def test_what_is_no_import_of_a_kernel_is_not_seen() -> None:
    source = '"""See app.kernels.text.types."""\nfrom app.errors import AppError\nimport numpy\n'
    assert imported(source) == set()


@pytest.mark.parametrize("module", MODULES)
def test_all_that_the_syntax_tree_names_is_part_of_the_stamp(module: str) -> None:
    source = (KERNELS / f"{module.replace('.', '/')}.py").read_text()
    named: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            named |= {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
    expected = {name.removeprefix("app.kernels.") for name in named} & set(MODULES)
    assert expected <= built_of(module)


def test_a_change_in_an_inner_module_of_another_folder_compiles_the_kernel_again(
    tmp_path: Path,
) -> None:
    shutil.copytree(ROOT / "app", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "app/kernels/text/made_up.py").write_text(OUTER)
    inner = tmp_path / "app/kernels/tree/made_up.py"
    inner.write_text(INNER.format(41))
    assert asked(tmp_path) == "41 0"
    assert asked(tmp_path) == "41 1"
    inner.write_text(INNER.format(42))
    assert asked(tmp_path) == "42 0"


def asked(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "kept")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "LABELSERVE_KERNELS": "auto"}
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
