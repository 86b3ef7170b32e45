"""`labelserve train --cluster tls://…`: certificates of one CA let in, and nothing else does."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import write_corpus
from tests.engines.processes import ROOT, SECONDS, Processes
from tests.engines.test_train import command, hashes

COMM = "DASK_DISTRIBUTED__COMM__"
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(folder: Path, *arguments: str) -> None:
    """Run the program in a folder; postgresql, which tests need as well, brings it along."""
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_ca(folder: Path, ca: str) -> None:
    files = ("-keyout", f"{ca}.key", "-out", f"{ca}.pem")
    openssl(folder, "req", "-x509", *KEY, *files, "-subj", f"/CN={ca}", "-days", "2")


def make_certificate(folder: Path, name: str, ca: str) -> None:
    """A key, and a certificate for it that the CA has signed."""
    files = ("-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(folder, "req", *KEY, *files, "-subj", f"/CN={name}")
    signed = ("-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", "2")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")


def settings(folder: Path, name: str, ca: str) -> dict[str, str]:
    """Dask's own configuration, for one that has this certificate and trusts this CA."""
    files = {f"{COMM}TLS__CA_FILE": str(folder / f"{ca}.pem")}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        files[f"{COMM}TLS__{role}__CERT"] = str(folder / f"{name}.pem")
        files[f"{COMM}TLS__{role}__KEY"] = str(folder / f"{name}.key")
    return {f"{COMM}REQUIRE_ENCRYPTION": "true", **files}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents; two CAs, and a certificate of each."""
    folder = tmp_path_factory.mktemp("tls")
    write_corpus(folder / "train.jsonl", 60)
    for name, ca in (("node", "ca"), ("stranger", "other")):
        make_ca(folder, ca)
        make_certificate(folder, name, ca)
    return folder


@pytest.fixture(scope="module")
def encrypted(folder: Path) -> Iterator[Processes]:
    """A scheduler and a worker that speak TLS alone, with certificates of the first CA."""
    processes = Processes(folder, "tls", **settings(folder, "node", "ca"))
    processes.start_worker()
    yield processes
    processes.stop()


def train(
    folder: Path, models: Path, where: tuple[str, str], environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """A refusal takes a second or two; more than SECONDS is a failure."""
    return subprocess.run(
        command(folder / "train.jsonl", models, "--quality", "fast", *where),
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_certificates_of_one_ca_give_the_bytes_of_threads(
    tmp_path: Path, folder: Path, encrypted: Processes
) -> None:
    assert encrypted.address.startswith("tls://")
    by_workers, by_threads = tmp_path / "workers", tmp_path / "threads"
    own = settings(folder, "node", "ca")
    done = train(folder, by_workers, ("--cluster", encrypted.address), own)
    assert done.returncode == 0, done.stderr
    assert f"{encrypted.address}: 1 workers" in done.stderr
    assert train(folder, by_threads, ("--jobs", "1")).returncode == 0
    assert hashes(by_workers) == hashes(by_threads) != []


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        (None, f"tls:// needs the certificate of the cluster's CA,.* set {COMM}TLS__CA_FILE"),
        (("stranger", "other"), "certificate and this command's are not of the same CA: TLS cert"),
        (("stranger", "ca"), "certificate and this command's are not of the same CA: "),
        (("missing", "ca"), r"cannot be read: \S+missing.pem, \S+missing.key; it is named by one"),
    ],
)
def test_others_are_refused_and_told_what_to_do(
    tmp_path: Path,
    folder: Path,
    encrypted: Processes,
    own: tuple[str, str] | None,
    sentence: str,
) -> None:
    given = settings(folder, *own) if own else {}
    assert_refused(train(folder, tmp_path, ("--cluster", encrypted.address), given), sentence)
    assert not list(tmp_path.rglob("*.npy"))


@pytest.mark.parametrize("is_required", [False, True])
def test_an_address_without_tls_is_refused(
    tmp_path: Path, folder: Path, encrypted: Processes, *, is_required: bool
) -> None:
    plain = encrypted.address.replace("tls://", "tcp://")
    given = settings(folder, "node", "ca") if is_required else {}
    sentence = (
        "requires encryption, and tcp:// has none: use tls://"
        if is_required
        else ("no scheduler answers at tcp://.*one that speaks TLS is reached by tls://")
    )
    assert_refused(train(folder, tmp_path, ("--cluster", plain), given), sentence)


def test_encryption_that_is_required_of_processes_here_needs_files(
    tmp_path: Path, folder: Path
) -> None:
    done = train(folder, tmp_path, ("--cluster", "local:1"), {f"{COMM}REQUIRE_ENCRYPTION": "true"})
    assert_refused(done, f"names no files for it: unset {COMM}REQUIRE_ENCRYPTION")


def assert_refused(done: "subprocess.CompletedProcess[str]", sentence: str) -> None:
    assert done.returncode == 1, done.stderr
    said = done.stderr.splitlines()[-1]
    assert re.search(f"^error: .*{sentence}", said), done.stderr
    assert "Traceback" not in done.stderr
