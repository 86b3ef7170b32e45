"""The import rule of docs/architecture.md, kept by a test: never sideways, never up."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

LAYERS = [
    {"errors", "progress"},
    {"arrays", "folds", "state", "settings", "catalogue", "kernel_cache"},
    {"engine", "resources"},
    {"labels", "heldout", "metrics", "kernels"},
    {"hand_rules"},
    {"datasets", "vectorizers", "learners", "decisions", "artifacts", "compiling"},
    {"engines"},
    {"classifier"},
    {"document_drift"},
    {"model", "evaluation", "explanation", "prediction"},
    {"training", "serving"},
    {"api", "papers", "server"},
    {"main"},
    {"cli"},
]
PURE = {"arrays", "folds", "labels", "heldout", "metrics", "kernels"}
READS_ONE_SETTING = "kernels/__init__.py"  # LABELSERVE_KERNELS decides what may be imported at all
TOUCHES_THE_WORLD = {"io", "logging", "os", "pathlib", "subprocess", "time"}
ONLY_IN = {
    "fastapi": ("api/",),
    "starlette": ("api/",),
    "uvicorn": ("server/",),
    "torch": ("learners/neural/",),
    "liblinear": ("learners/linear/liblinear.py",),
    "typer": ("cli/",),
    "rich": ("cli/",),
    "numba": ("kernels/compiler.py", "kernels/intrinsics.py", "kernels/linking.py"),
    "llvmlite": ("kernels/intrinsics.py",),
    "prometheus_client": ("serving/telemetry/exposition.py",),
    "psycopg": ("serving/jobs/dialects.py",),
    "sqlite3": ("serving/jobs/dialects.py",),
    "dask": ("engines/",),
    "distributed": ("engines/",),
    "pydantic": ("api/", "settings.py", "artifacts/manifest.py"),
    "pickle": (),
    "labelserve": (),
}

ROOT = Path(__file__).parent.parent
APP, LIBRARY = ROOT / "app", ROOT / "labelserve"
FILES = [str(p.relative_to(APP)) for p in sorted(APP.rglob("*.py")) if p != APP / "__init__.py"]
LIBRARY_FILES = [
    str(p.relative_to(LIBRARY)) for p in sorted(LIBRARY.rglob("*.py")) if p.name != "__init__.py"
]
FOR_CLIENTS = (
    "client/",
    "arguments.py",
    "documents.py",
    "own_app.py",
    "predictions.py",
    "report.py",
)
"""Files of the library that work where another package hides `app`, and import it nowhere."""
NOT_FOR_PROGRAMS = {"api", "cli", "main", "server", "serving"}
ONLY_IN_LIBRARY = {
    **dict.fromkeys(ONLY_IN, ()),
    "labelserve": ("",),
    "httpx": ("client/",),
    "sklearn": ("estimator.py",),
}
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def imports(file: str, package: Path = APP) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse((package / file).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def part_of(file: str) -> str:
    return Path(file).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", FILES)
def test_imports_go_only_to_lower_layers(file: str) -> None:
    ours = {name.split(".")[1] for name in imports(file) if name.startswith("app.")}
    others = ours - {part_of(file)}
    assert {part for part in others if LEVEL[part] >= LEVEL[part_of(file)]} == set()


@pytest.mark.parametrize("file", [f for f in FILES if part_of(f) in PURE])
def test_pure_parts_touch_nothing_but_numbers(file: str) -> None:
    names = {name.split(".")[0] for name in imports(file)}
    outside = names - sys.stdlib_module_names - {"app"}
    assert outside <= {"numpy", "scipy", "numba", "llvmlite"}
    assert file == READS_ONE_SETTING or not names & TOUCHES_THE_WORLD


@pytest.mark.parametrize("file", FILES)
def test_heavy_packages_stay_in_their_place(file: str) -> None:
    names = {name.split(".")[0] for name in imports(file)}
    strays = [n for n in names if n in ONLY_IN and not file.startswith(ONLY_IN[n])]
    assert strays == []


@pytest.mark.parametrize("file", LIBRARY_FILES)
def test_the_library_uses_what_is_no_service_and_no_command(file: str) -> None:
    names = imports(file, LIBRARY)
    parts = {name.split(".")[1] for name in names if name.startswith("app.")}
    assert parts & NOT_FOR_PROGRAMS == set()
    assert not (parts and file.startswith(FOR_CLIENTS))
    packages = {name.split(".")[0] for name in names}
    fenced = packages & ONLY_IN_LIBRARY.keys()
    assert [name for name in fenced if not file.startswith(ONLY_IN_LIBRARY[name])] == []


FOLDERS = sorted({str(Path(file).parent) for file in FILES})


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_has_at_most_fifteen_modules_of_its_own(folder: str) -> None:
    modules = [path.name for path in (APP / folder).glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= 15, f"{folder}: split it by what a newcomer looks for"


def test_the_longest_import_chain_has_at_most_fourteen_modules() -> None:
    modules = {".".join(("app", *Path(f).with_suffix("").parts)): f for f in FILES}
    modules = {name.removesuffix(".__init__"): file for name, file in modules.items()}
    uses = {name: {_module(i, modules) for i in imports(file)} for name, file in modules.items()}

    @cache
    def chain(name: str) -> tuple[str, ...]:
        return (name, *max((chain(n) for n in uses[name] - {None, name}), key=len, default=()))

    longest = max(map(chain, modules), key=len)
    assert len(longest) <= 14, " → ".join(longest)


def _module(imported: str, modules: dict[str, str]) -> str | None:
    """The module that a name is imported from; None for other packages."""
    return next((n for n in (imported, imported.rpartition(".")[0]) if n in modules), None)


def test_a_class_name_means_one_thing() -> None:
    found: dict[str, list[str]] = {}
    for path in [*(APP / file for file in FILES), *(LIBRARY / file for file in LIBRARY_FILES)]:
        file = str(path.relative_to(ROOT))
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file.replace("_plain.py", ".py"))
    assert {name: files for name, files in found.items() if len(set(files)) > 1} == {}
