"""The Dask operator's schema of a DaskCluster, and what its own code makes of one."""

import json
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import yaml
from containers.engine.command import run

PACKAGE = "dask-kubernetes"
SCHEMA = "operator/deployment/helm/dask-kubernetes-operator/crds/daskcluster.yaml"
MADE = """
import json, sys
from dask_kubernetes.operator.controller import controller as made
cluster = json.load(open(sys.argv[1]))
name, spec = cluster["metadata"]["name"], cluster["spec"]
worker = ("default", name, "0", spec["worker"]["spec"], {}, {})
print(json.dumps([
    made.build_scheduler_deployment_spec(name, spec["scheduler"]["spec"], {}, {}),
    made.build_scheduler_service_spec(name, spec["scheduler"]["service"], {}, {}),
    made.build_worker_deployment_spec(f"{name}-default", *worker),
]))
"""


class Operator:
    """The operator's package, which is imported by a Python of its own only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = folder / "bin" / "python"
        self.version = self._installed()

    def schema(self) -> dict[str, Any]:
        """The schema that the API server checks a DaskCluster by, with unknown fields refused."""
        (file,) = self._folder.glob(f"lib/python*/site-packages/dask_kubernetes/{SCHEMA}")
        definition = yaml.safe_load(file.read_text())
        whole = strict(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        for name in ("apiVersion", "kind", "metadata"):  # of every resource, and in no schema
            whole["properties"][name] = {}
        return dict(whole)

    def made_of(self, cluster: dict[str, Any]) -> list[dict[str, Any]]:
        """The resources that it sends to a cluster: scheduler, service, one worker."""
        file = self._folder / "cluster.json"
        file.write_text(json.dumps(cluster))
        made: list[dict[str, Any]] = json.loads(run([self._python, "-c", MADE, file]))
        return made

    def _installed(self) -> str:
        """Install it beside this environment's packages, of which it takes what fits."""
        venv.create(self._folder, with_pip=False, symlinks=True)
        (site,) = self._folder.glob("lib/python*/site-packages")
        (site / "ours.pth").write_text(sysconfig.get_path("purelib"))
        pip = [sys.executable, "-m", "pip", "--python", str(self._python)]
        run([*pip, "install", "--quiet", PACKAGE])
        said = run([*pip, "show", PACKAGE])
        return next(line.split()[1] for line in said.splitlines() if line.startswith("Version:"))


def strict(schema: Any) -> Any:
    """The schema with unknown fields refused, which the API server would drop without a word."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    keeps = schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object" and not keeps:
        closed.setdefault("additionalProperties", False)
    return closed
