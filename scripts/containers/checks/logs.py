"""What containers write: one JSON line a request, and never a word of a document."""

import json
from time import monotonic

from containers.client import TEXT
from containers.report import Report
from containers.stack import REPLICAS, Stack

LATEST_SECONDS = 10


def json_lines(stack: Stack, report: Report) -> None:
    """Every line of replicas and gateway is a JSON object; a request's id leads to its lines."""
    answer = stack.client.predict([TEXT])
    request_id = answer.headers["x-request-id"]
    written, with_id = logs(stack), list[str]()
    end = monotonic() + LATEST_SECONDS
    while len(with_id) < 2 and monotonic() < end:  # lines are written behind the answer
        written = logs(stack)
        with_id = [name for name in written if any(request_id in one for one in written[name])]
    for name, found in written.items():
        bad = [line for line in found if not is_json(line)]
        report.expect(not bad, f"{name}: {len(bad)} lines are no JSON, such as {bad[:1]}")
        report.expect(not any("courier" in line for line in found), f"{name} logs documents")
    report.expect("gateway" in with_id, "the gateway's log lacks the request's id")
    report.expect(len(with_id) == 2, f"{request_id} stands in the logs of {with_id}")
    report.found(f"{sum(map(len, written.values())):,} lines, all JSON; one request id in two logs")


def logs(stack: Stack) -> dict[str, list[str]]:
    """What replicas and gateway wrote so far."""
    written = {name: lines(stack, name) for name in (*REPLICAS, "gateway")}
    # HAProxy tells of replicas that come and go in words of its own.
    written["gateway"] = [line for line in written["gateway"] if '"method"' in line]
    return written


def lines(stack: Stack, service: str) -> list[str]:
    """What the container wrote to standard output."""
    return [line for line in stack.engine("logs", stack.name(service)).splitlines() if line.strip()]


def is_json(line: str) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
