"""deploy/kubernetes, by the schemas of Kubernetes itself: an old version and newer ones."""

import copy
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

MANIFESTS = Path(__file__).parents[2] / "deploy" / "kubernetes"
NOT_OF_THE_API = {"kustomization.yaml"}  # kubectl's own, never sent to a cluster
VERSIONS = ("1.25", "1.30", kubernetes_validate.latest_version())


def resources() -> dict[str, Any]:
    """Every manifest that a cluster is sent, by its file."""
    files = [path for path in MANIFESTS.glob("*.yaml") if path.name not in NOT_OF_THE_API]
    return {path.name: yaml.safe_load(path.read_text()) for path in sorted(files)}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", resources())
def test_a_manifest_is_what_this_version_of_kubernetes_takes(file: str, version: str) -> None:
    kubernetes_validate.validate(resources()[file], version, strict=True)


def test_a_misspelt_field_would_be_noticed() -> None:
    deployment = copy.deepcopy(resources()["deployment.yaml"])
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["readinesProbe"] = container.pop("readinessProbe")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, VERSIONS[-1], strict=True)
