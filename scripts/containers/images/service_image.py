"""Builds our own image, and measures what it adds to its base, layer by layer."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from containers.engine.command import CommandError, run
from containers.engine.engine import Engine
from containers.images.base_images import full_name
from containers.images.pip_settings import pip_mounts
from containers.report import Report

ROOT = Path(__file__).parents[3]
BASE = "python:3.11-slim"
OCI = "org.opencontainers.image"
IMAGE = "labelserve:0.1.0"
MOST_MEGABYTES = 420


@dataclass(frozen=True)
class ServiceImage:
    """The Dockerfile of this tree, built for a target, with extras or without."""

    engine: Engine
    home: Path
    log: Path

    def build(self, report: Report, *, target: str = "service", extras: str = "") -> None:
        """Build and tag as compose names it; its size on top of the base, and what it names."""
        began = time.monotonic()
        self.engine(*self._options(target, extras), ROOT, seconds=1800, log=self.log)
        seconds, megabytes = time.monotonic() - began, self.megabytes()
        is_plain = target == "service" and not extras
        if is_plain:
            report.expect(megabytes <= MOST_MEGABYTES, f"more than {MOST_MEGABYTES} MB")
        packages = len(self.packages())
        report.found(
            f"{megabytes:.0f} MB on top of the base's {self.size(full_name(BASE)):.0f}, "
            f"{packages} packages in its SBOM, built in {seconds:.0f} s"
        )
        report.expect(self.labels()["version"] == IMAGE.rpartition(":")[2], "its label is wrong")

    def _options(self, target: str, extras: str) -> list[str]:
        args = {"BASE": self._base(), "EXTRAS": extras}
        words = ["build", "--network=host", f"--target={target}", f"--tag={IMAGE}"]
        words += [f"--build-arg={name}={value}" for name, value in args.items()]
        words += [f"--label={OCI}.{name}={value}" for name, value in revision().items()]
        if self.engine.is_podman:  # OCI's own format has no health check
            words += ["--format=docker", *pip_mounts(self.home)]
        return words

    def _base(self) -> str:
        """The base by its digest, as a release is built."""
        format_ = "{{.Digest}}" if self.engine.is_podman else "{{index .RepoDigests 0}}"
        found = self.engine("image", "inspect", "--format", format_, full_name(BASE)).strip()
        name = full_name(BASE).rpartition(":")[0]
        return f"{name}@{found}" if found.startswith("sha256:") else found

    def megabytes(self) -> float:
        """What the image holds beside its base."""
        return self.size(IMAGE) - self.size(full_name(BASE))

    def size(self, name: str) -> float:
        """The megabytes (millions of bytes) of an image's layers."""
        return float(self.engine("image", "inspect", "--format", "{{.Size}}", name)) / 1e6

    def layers(self) -> list[tuple[str, str]]:
        """Size and instruction of every layer that holds anything, as `history` has them."""
        lines = self.engine("history", "--no-trunc", "--format", "{{.Size}}\t{{.CreatedBy}}", IMAGE)
        pairs = [line.partition("\t")[::2] for line in lines.splitlines()]
        return [(size, words) for size, words in pairs if not size.startswith("0 ")]

    def labels(self) -> dict[str, str]:
        """The OCI labels, by the last part of their names."""
        text = self.engine("image", "inspect", "--format", "{{json .Config.Labels}}", IMAGE)
        return {name.rpartition(".")[2]: value for name, value in json.loads(text).items()}

    def packages(self) -> list[str]:
        """The package URLs of the list that was written when the image was built."""
        words = ["run", "--rm", "--network=none", "--entrypoint=cat", IMAGE, "/app/sbom.json"]
        return [one["purl"] for one in json.loads(self.engine(*words))["components"]]


def revision() -> dict[str, str]:
    """The commit of this tree and its time, where git knows it."""
    try:
        commit, moment = run(["git", "-C", ROOT, "log", "-1", "--format=%H %cI"]).split()
    except (CommandError, OSError, ValueError):
        return {}
    return {"revision": commit, "created": moment}
