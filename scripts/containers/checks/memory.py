"""Replicas with little memory under a hostile load: clients see 503 or 429 and nothing worse."""

import http.client
import threading
from collections import Counter

from containers.client import TEXT, Client
from containers.load import Count, total, under_load
from containers.report import Report
from containers.stack import REPLICAS, Stack

LIMIT = "256m"
OVERRIDE = """\
services:
  replica-1:
    deploy: {resources: {limits: {memory: LIMIT}}}
  replica-2:
    deploy: {resources: {limits: {memory: LIMIT}}}
""".replace("LIMIT", LIMIT)
HOSTILE_CLIENTS, HOSTILE_REQUESTS = 6, 6
LONG = " ".join([TEXT] * 20)


def hostile_load(stack: Stack, report: Report) -> None:
    """Large requests, each explained, beside small ones, with a 16th of the memory."""
    (stack.folder / "small.yml").write_text(OVERRIDE)
    stack.files.append("small.yml")
    stack.remove(*REPLICAS)
    stack.up(*REPLICAS)
    stack.wait_until_healthy(*REPLICAS)
    limit = stack.inspect("replica-1")["HostConfig"]["Memory"]
    report.expect(limit == 256 << 20, f"the limit is {limit}")
    before = [stack.inspect(name)["State"]["StartedAt"] for name in REPLICAS]
    with under_load("127.0.0.1", stack.port, stack.key) as small:
        large = hostile(stack)
    count, after = total(small), [stack.inspect(name)["State"]["StartedAt"] for name in REPLICAS]
    report.expect(not count.lost, f"small requests lost: {count}")
    report.expect(not large.lost, f"large requests lost: {large}")
    replaced = sum(old != new for old, new in zip(before, after, strict=True))
    report.found(
        f"{LIMIT} a replica: turned away {large} large and {count} small; {replaced} replaced"
    )
    start_ended(stack)
    stack.files.remove("small.yml")


def hostile(stack: Stack) -> Count:
    """Clients that send 500 long documents a request and ask for every explanation."""
    counts = [Count() for _ in range(HOSTILE_CLIENTS)]
    threads = [threading.Thread(target=_send, args=(stack, count)) for count in counts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total(counts)


def _send(stack: Stack, count: Count) -> None:
    client = Client("127.0.0.1", stack.port, stack.key, seconds=120)
    for _ in range(HOSTILE_REQUESTS):
        try:
            count.add(client.predict([LONG] * 500, explain=20, top_k=20))
        except (OSError, http.client.HTTPException) as error:
            count.lost += Counter([type(error).__name__])


def start_ended(stack: Stack) -> None:
    """Start what the kernel ended, and wait until all is well."""
    for name in REPLICAS:
        if not stack.is_running(name):
            stack.engine("start", stack.name(name))
    stack.wait_until_healthy(*REPLICAS)
