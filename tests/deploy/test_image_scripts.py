"""What runs while an image is built: packages made smaller, and listed."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

IMAGE = Path(__file__).parents[2] / "scripts" / "image"
KEPT = (
    "shop/__init__.py",
    "shop/testing.py",
    "shop/py.typed",
    "shop-1.0.dist-info/tests/LICENSE.h",
)
REMOVED = (
    "shop/tests/test_shop.py",
    "shop/include/shop.h",
    "shop/fast.pyx",
    "shop/__init__.pyi",
    "pygments/lexers/cobol.py",
)


def run(script: str, *words: str | Path, **env: str) -> str:
    command = [sys.executable, IMAGE / script, *words]
    settings = {**os.environ, **env}
    return subprocess.run(command, check=True, env=settings, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    venv = tmp_path_factory.mktemp("venv")
    folder = venv / "lib" / "python3.11" / "site-packages"
    for name in (*KEPT, *REMOVED, "pygments/lexers/python.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "shop" / "__init__.py").write_text("PRICE = 3\n")
    run("slim.py", venv)
    return folder


def test_what_only_developers_of_a_package_open_is_removed(site: Path) -> None:
    assert [name for name in REMOVED if (site / name).exists()] == []
    assert [name for name in KEPT if not (site / name).exists()] == []
    assert (site / "pygments" / "lexers" / "python.py").exists()


def test_modules_are_compiled_without_the_time_of_their_source(site: Path) -> None:
    (compiled,) = (site / "shop" / "__pycache__").glob("__init__.*.pyc")
    unchecked_hash = 1  # bit 0: by the source's hash, bit 1: looked at when imported (PEP 552)
    assert int.from_bytes(compiled.read_bytes()[4:8], "little") == unchecked_hash
    os.utime(site / "shop" / "__init__.py", (0, 0))
    asked = [sys.executable, "-c", "import shop; print(shop.PRICE, shop.__cached__)"]
    env = {**os.environ, "PYTHONPATH": str(site)}
    printed = subprocess.run(asked, check=True, env=env, capture_output=True, text=True).stdout
    assert printed.split() == ["3", str(compiled)]


def test_the_list_of_packages_has_each_of_them_once_with_its_version() -> None:
    listed: dict[str, Any] = json.loads(run("sbom.py"))
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.5")
    found = {one["name"]: one["version"] for one in listed["components"]}
    assert len(found) == len(listed["components"])
    assert found["numpy"] == importlib.metadata.version("numpy")
    assert found["prometheus-client"] == importlib.metadata.version("prometheus_client")
    product = listed["metadata"]["component"]
    assert product["purl"] == f"pkg:pypi/labelserve@{importlib.metadata.version('labelserve')}"
    assert product["licenses"] == [{"expression": "Apache-2.0"}]


def test_the_same_packages_give_the_same_list() -> None:
    first, second = (run("sbom.py", SOURCE_DATE_EPOCH="315532800") for _ in range(2))
    assert first == second
    assert json.loads(first)["metadata"]["timestamp"] == "1980-01-01T00:00:00Z"
