"""A client generated from the OpenAPI document calls every route of a real server."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.artifacts.store import Store
from app.artifacts.trials import VersionTrial
from app.model import load_model
from app.serving.keys import KeysFile
from tests.reliability.servers import Server, start, wait_until

PACKAGE = "generated_client"
TEXT = "my invoice was charged twice"
RECORDS = (json.dumps({"text": TEXT, "labels": ["billing"]}) + "\n").encode() * 20
CALL = {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": [TEXT]}]}
QUERY = {"documents": [TEXT, {"id": "7", "text": TEXT}], "top_k": 2, "explain": 3}


def part(name: str) -> Any:
    return import_module(f"{PACKAGE}.{name}")


@dataclass
class Site:
    server: Server
    document: dict[str, Any]
    secret: str
    models: Path

    def operations(self) -> dict[str, str]:
        """Tag by operation id, of every operation that the document has."""
        found = [each for path in self.document["paths"].values() for each in path.values()]
        return {each["operationId"]: each["tags"][0].replace(" ", "_") for each in found}

    def call(self, operation: str, *, status: int = 200, **arguments: Any) -> Any:
        """What the client makes of an answer with this status."""
        client = part("client").AuthenticatedClient(base_url=self.server.url, token=self.secret)
        module = part(f"api.{self.operations()[operation]}.{operation}")
        with client as client:
            answer = module.sync_detailed(client=client, **arguments)
        assert answer.status_code == status, answer.content
        return answer.parsed


@pytest.fixture(scope="module")
def site(tiny_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("generated")
    _, secret = KeysFile(folder / "keys.json").create(["admin"])
    models = Path(shutil.copytree(tiny_models, folder / "models"))
    keys = folder / "keys.json"
    server = start(folder, models_dir=models, api_keys_file=keys, poll_seconds=0.2)
    try:
        with server.client() as client:
            document = client.get("/openapi.json").json()
        generate(server, folder)
        sys.path.insert(0, str(folder))
        yield Site(server, document, secret, models)
    finally:
        sys.path.remove(str(folder))
        server.stop()


def generate(server: Server, folder: Path) -> None:
    """Write the package; a warning of the generator is a failure."""
    (folder / "config.yml").write_text("post_hooks: []\n")  # they only format the code
    found = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
            *("--url", f"{server.url}/openapi.json", "--meta", "none"),
            *("--config", f"{folder}/config.yml", "--output-path", f"{folder}/{PACKAGE}"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, ""), found.stdout + found.stderr


def predicts(site: Site) -> None:
    body = part("models").PredictRequest.from_dict(QUERY)
    first, second = site.call("predict", body=body).predictions
    assert (first.labels[0].label, second.id) == ("billing", "7")
    assert [TEXT[slice(*span)] for term in first.labels[0].because for span in term.at]


def evaluates(site: Site) -> None:
    file = part("types").File(BytesIO(RECORDS), "test.jsonl")
    form = part("models").EvaluateFilesBody(file=part("types").File(BytesIO(RECORDS)))
    for body in (file, form):
        assert site.call("evaluate", body=body)["data"]["documents"] == 20


def hands_in(site: Site) -> None:
    sha256 = hashlib.sha256(RECORDS).hexdigest()
    file = part("types").File(BytesIO(RECORDS), "test.jsonl")
    assert site.call("put_upload", status=201, sha256=sha256, body=file).bytes_ == len(RECORDS)
    site.call("find_upload", sha256=sha256)
    form = part("models").SubmitEvaluationsFilesBody(
        file=[file, part("types").File(BytesIO(RECORDS))]
    )
    checks = site.call("submit_evaluations", body=form, check=True).checks
    assert [one.documents for one in checks] == [20, 20]
    found = site.call("submit_evaluations", status=202, body=form, upload=sha256).evaluations[0]
    wait_until(lambda: site.call("evaluation", id=found.id).state == "done")
    assert found.id in [one.id for one in site.call("evaluations").evaluations]
    assert site.call("evaluation_report", id=found.id)["data"]["documents"] == 20
    assert "event: end" in site.call("evaluation_events", id=found.id)
    both = part("models").CompareEvaluationsBody.from_dict({"a": found.id, "b": found.id})
    assert site.call("compare_evaluations", body=both).tests.micro_sign.p == 1.0
    board = site.call("leaderboard", sha256=sha256, figure="P@1")
    assert board.rows[0].evaluation.id == found.id
    change = part("models").UpdateEvaluationBody.from_dict({"pinned": True})
    assert site.call("update_evaluation", id=found.id, body=change).pinned is True
    site.call("delete_evaluation", status=204, id=found.id)


def infers(site: Site) -> None:
    body = part("models").Call.from_dict(CALL)
    for answer in (
        site.call("v2_infer", name="tiny", body=body),
        site.call("v2_infer_version", name="tiny", version=version(site), body=body),
    ):
        assert "billing" in answer["outputs"][0]["data"][0]


def describes(site: Site) -> None:
    for found in (
        site.call("v2_model", name="tiny"),
        site.call("v2_model_version", name="tiny", version=version(site)),
    ):
        assert found["inputs"][0]["name"] == "text"


def is_ready(site: Site) -> None:
    assert site.call("ready").status == "ready"
    named = {"name": "tiny", "version": version(site)}
    for operation, arguments in (
        ("v2_ready", {}),
        ("v2_model_ready", {"name": "tiny"}),
        ("v2_version_ready", named),
    ):
        assert site.call(operation, **arguments).ready is True


def version(site: Site) -> str:
    found: str = site.call("model", name="tiny").version
    return found


def lists(site: Site) -> None:
    assert [model.name for model in site.call("models").models] == ["tiny"]
    assert site.call("labels", name="tiny", q="bill").labels == ["billing"]
    assert site.call("curve", name="tiny").points
    assert site.call("label", name="tiny", label="billing").trained[0].terms_for


def promotes(site: Site) -> None:
    card = site.call("card", name="tiny")
    assert [(one.version, one.is_current) for one in card.stored] == [(version(site), True)]
    body = part("models").CurrentVersion(version=card.version)
    assert site.call("promote", name="tiny", body=body).version == card.version


def tries(site: Site) -> None:
    for kind in ("shadow", "canary", "drift"):
        assert site.call(kind, name="tiny").state in ("none", "unknown")
    store, tiny = Store(site.models), load_model(Store(site.models), "tiny")
    new = store.write("tiny", tiny.classifier.state(), tiny.info())
    try:
        store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
        store.begin_trial("tiny", "canary", VersionTrial(new, 1e-9))
        wait_until(lambda: site.call("canary", name="tiny").state == "running")
        predicts(site)
        sides = site.call("canary", name="tiny").sides.additional_properties
        assert (sides["current"].answered, sides["canary"].answered) == (1, 0)
        wait_until(lambda: site.call("shadow", name="tiny").figures.compared > 0)
        assert site.call("shadow", name="tiny").figures.all_labels.jaccard.value == 1.0
    finally:
        store.end_trial("tiny", "shadow")
        store.end_trial("tiny", "canary")
        store.remove("tiny", new)


def lives(site: Site) -> None:
    assert site.call("live").status == "live"
    assert site.call("v2_live")["live"] is True
    assert site.call("v2_server")["name"] == "labelserve"


def measures(site: Site) -> None:
    assert "labelserve_model_info" in site.call("metrics")


CALLS: dict[Callable[[Site], None], set[str]] = {
    predicts: {"predict"},
    evaluates: {"evaluate"},
    hands_in: {
        "put_upload",
        "find_upload",
        "submit_evaluations",
        "evaluation",
        "evaluations",
        "evaluation_report",
        "evaluation_events",
        "compare_evaluations",
        "leaderboard",
        "update_evaluation",
        "delete_evaluation",
    },
    infers: {"v2_infer", "v2_infer_version"},
    describes: {"v2_model", "v2_model_version"},
    is_ready: {"ready", "v2_ready", "v2_model_ready", "v2_version_ready"},
    lists: {"models", "labels", "model", "curve", "label"},
    promotes: {"card", "promote"},
    tries: {"shadow", "canary", "drift"},
    lives: {"live", "v2_live", "v2_server"},
    measures: {"metrics"},
}


def test_every_operation_of_the_document_is_called(site: Site) -> None:
    assert set(site.operations()) == set().union(*CALLS.values())


@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls.__name__)
def test_the_generated_client_understands_the_answers(
    site: Site, calls: Callable[[Site], None]
) -> None:
    calls(site)


def test_the_generated_client_understands_a_refusal(site: Site) -> None:
    with part("client").Client(base_url=site.server.url) as client:
        for operation in ("models", "metrics"):
            module = part(f"api.{site.operations()[operation]}.{operation}")
            answer = module.sync_detailed(client=client)
            assert (answer.status_code, answer.parsed.type_) == (
                401,
                "urn:labelserve:error:unauthorized",
            )
