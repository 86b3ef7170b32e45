"""constraints.txt: the versions that CI runs with, and nothing else."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "constraints.txt").read_text().splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = chain.from_iterable(PROJECT["optional-dependencies"].values())
REQUIREMENTS = [
    requirement
    for requirement in map(Requirement, chain(PROJECT["dependencies"], EXTRAS))
    if requirement.name != PROJECT["name"]
]
VERSIONS = {canonicalize_name(line.partition("==")[0]): line.partition("==")[2] for line in LINES}
FENCED = ("llvmlite", "numba", "uvicorn")


def test_a_line_is_a_name_and_a_public_version() -> None:
    assert [line for line in LINES if not re.fullmatch(r"[\w.-]+==\d[\w.]*", line)] == []


def test_every_package_stands_there_once_in_alphabetical_order() -> None:
    names = [line.partition("==")[0].lower() for line in LINES]
    assert names == sorted(set(names))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_every_dependency_has_a_version_that_its_bounds_allow(requirement: Requirement) -> None:
    version = VERSIONS.get(canonicalize_name(requirement.name), "none")
    assert version != "none", f"{requirement.name} is not in constraints.txt"
    assert version in requirement.specifier


@pytest.mark.parametrize("name", FENCED)
def test_a_package_whose_private_parts_are_used_has_an_upper_bound(name: str) -> None:
    (requirement,) = [each for each in REQUIREMENTS if each.name == name]
    assert "<" in {each.operator for each in requirement.specifier}


@pytest.mark.parametrize("file", ["Makefile", "Dockerfile"])
def test_the_project_is_installed_only_with_these_versions(file: str) -> None:
    lines = (ROOT / file).read_text().splitlines()
    installs = [line for line in lines if re.search(r"\bpip\b.* install .*--editable", line)]
    assert installs
    assert all("--constraint constraints.txt" in line for line in installs)
