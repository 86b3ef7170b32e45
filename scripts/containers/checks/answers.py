"""What a client of the gateway gets: health, labels, an evaluation; nothing without the key."""

import json

from containers.client import TEXT, Client
from containers.report import Report
from containers.stack import Stack, wait_for


def health_and_labels(stack: Stack, report: Report) -> None:
    """Health of gateway and replicas, labels with the key, 401 without and with another."""
    client = stack.client
    for path in ("/gateway/health", "/health/live", "/health/ready"):
        report.expect(client.status(path) == 200, f"{path} is not 200")
    report.expect(client.status("/metrics") == 404, "the gateway shows /metrics")
    answer = client.predict([TEXT], model="demo")
    labels = [found["label"] for found in answer.json["predictions"][0]["labels"]]
    report.expect(bool(labels), f"no labels: {answer.body!r}")
    for key in ("", "ls_none"):
        status = Client("127.0.0.1", stack.port, key).predict([TEXT]).status
        report.expect(status == 401, f"{status} without a good key, not 401")
    report.found(f"labels {', '.join(labels)}; 401 without the key")


def evaluation(stack: Stack, report: Report) -> None:
    """A test set evaluated at once, and one handed in and evaluated by a worker, equal figures."""
    lines = (stack.folder / "data" / "test.jsonl").read_bytes()
    at_once = stack.client.ask("POST", "/evaluate?model=demo", lines, "application/x-ndjson")
    report.expect(at_once.status == 200, f"/evaluate: {at_once.status} {at_once.body[:300]!r}")
    kept = handed_in(stack, lines)
    same = micro_f1(at_once.json) == micro_f1(kept)
    report.expect(same, "the report of the worker is another one")
    report.found(f"micro-F1 {micro_f1(kept):.3f}, at once and by a worker")


def handed_in(stack: Stack, lines: bytes) -> object:
    """The report of an evaluation that was handed in."""
    kind = "application/x-ndjson"
    answer = stack.client.ask("POST", "/evaluations?models=demo", lines, kind)
    if answer.status != 202:
        raise AssertionError(f"/evaluations: {answer.status} {answer.body[:300]!r}")
    path = f"/evaluations/{answer.json['evaluations'][0]['id']}"
    client = stack.client
    ended = ("done", "failed", "cancelled")
    wait_for(lambda: client.ask("GET", path).json["state"] in ended, 90, "the evaluation's end")
    state = client.ask("GET", path)
    if state.json["state"] != "done":
        raise AssertionError(state.body[:500])
    return client.ask("GET", f"{path}/report").json


def micro_f1(report: object) -> float:
    """micro-F1, wherever in a report it stands."""
    found = json.loads(json.dumps(report))
    return float(found["decisions"]["micro"]["f1"])
