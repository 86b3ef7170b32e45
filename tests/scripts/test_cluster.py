"""`make cluster`, as far as it goes without root: its examples are those of docs/cluster.md."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cluster.batch_system import SLURM_PROGRAMS
from cluster.checks.slurm import SMALLER
from cluster.dask_operator import strict
from cluster.page import dask_cluster, example, jobqueue_program, slurm_job
from cluster.sandbox import check_machine
from containers.engine.command import CommandError

ROOT = Path(__file__).parents[2]


def test_its_help_needs_no_root_and_no_package() -> None:
    command = [sys.executable, "-I", "-S", ROOT / "scripts" / "cluster" / "run.py", "--help"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert all(word in printed for word in ("--only", "nodes", "slurm", "kubernetes", "/shared"))


def test_the_job_is_shell_and_the_program_is_python() -> None:
    subprocess.run(["sh", "-n"], input=slurm_job(), text=True, check=True)
    compile(jobqueue_program(), "docs/cluster.md", "exec")


def test_every_option_that_a_check_makes_smaller_is_one_that_the_job_gives() -> None:
    (line,) = (line for line in slurm_job().splitlines() if line.startswith("#SBATCH"))
    given = {word.partition("=")[0] for word in line.split()[1:]}
    assert {option.partition("=")[0] for option in SMALLER} <= given


def test_options_of_the_examples_are_options_of_labelserve() -> None:
    for command in ("train", "predict"):
        words = [sys.executable, "-m", "labelserve", command, "--help"]
        told = subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        lines = [line for line in slurm_job().splitlines() if f"labelserve {command}" in line]
        used = {word for line in lines for word in line.split() if word.startswith("--")}
        assert used
        assert all(f"{option} " in told for option in used)


def test_pods_name_their_command_because_the_image_starts_labelserve() -> None:
    assert 'ENTRYPOINT ["labelserve"]' in (ROOT / "Dockerfile").read_text()
    spec = yaml.safe_load(dask_cluster())["spec"]
    for part in ("worker", "scheduler"):
        (container,) = spec[part]["spec"]["containers"]
        assert container["command"][:2] == ["dask", part]


def test_an_example_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="0 examples in sh with no such words"):
        example("sh", "no such words")


def test_a_field_that_the_schema_does_not_know_is_refused() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    kept = {**inner, "x-kubernetes-preserve-unknown-fields": True}
    closed = strict({"type": "object", "properties": {"inner": inner, "kept": kept}})
    assert closed["additionalProperties"] is False
    assert closed["properties"]["inner"]["additionalProperties"] is False
    assert "additionalProperties" not in closed["properties"]["kept"]


def test_what_is_not_installed_is_named_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name, path: None)
    with pytest.raises(CommandError, match="apt-get install munge slurm-client slurmctld slurmd"):
        check_machine(SLURM_PROGRAMS)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(CommandError, match="root"):
        check_machine({})
