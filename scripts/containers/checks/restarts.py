"""Replicas that stop, are made anew or killed, under load: what the gateway's clients lose."""

import os
import signal
import time

from containers.client import Client
from containers.load import total, under_load
from containers.report import Report
from containers.stack import REPLICAS, Stack, wait_for

GRACE_SECONDS = 45
CALM_SECONDS = 2.0


def rolling(stack: Stack, report: Report) -> None:
    """Both replicas replaced by new containers, one after another: no request is lost."""
    with under_load("127.0.0.1", stack.port, stack.key) as counts:
        for replica in REPLICAS:
            time.sleep(CALM_SECONDS)
            stack.replace(replica)
            stack.wait_until_healthy(replica)
        time.sleep(CALM_SECONDS)
    count = total(counts)
    report.expect(count.answered == count.requests, "requests were lost")
    report.found(f"lost {count}")


def killed(stack: Stack, report: Report) -> None:
    """SIGKILL of a replica: what it was asked is asked elsewhere, and it comes back."""
    with under_load("127.0.0.1", stack.port, stack.key) as counts:
        time.sleep(CALM_SECONDS)
        state = stack.inspect("replica-1")["State"]
        kill(stack, state["Pid"])
        back = restarted(stack, state["StartedAt"])
        stack.wait_until_healthy("replica-1")
        time.sleep(CALM_SECONDS)
    count = total(counts)
    report.expect(count.answered == count.requests, "requests were lost")
    report.found(f"lost {count}; {back}")


def kill(stack: Stack, pid: int) -> None:
    """End its main process from outside: engines do not restart what they killed themselves."""
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        stack.engine("kill", "--signal", "KILL", stack.name("replica-1"))


def restarted(stack: Stack, first: str) -> str:
    """How the container came back."""
    try:
        wait_for(lambda: is_new(stack, first), 5, "a restart")
    except AssertionError:
        stack.engine("start", stack.name("replica-1"))
        return "started by hand"
    return "restarted by its policy"


def is_new(stack: Stack, first: str) -> bool:
    """Whether the container runs again."""
    state = stack.inspect("replica-1")["State"]
    return bool(state["Running"]) and state["StartedAt"] != first


def has_ended(stack: Stack, first: str) -> bool:
    """Whether the start of replica-2 at that time is over; its policy may have begun another."""
    state = stack.inspect("replica-2")["State"]
    return not state["Running"] or state["StartedAt"] != first


def told_to_end(stack: Stack, report: Report) -> None:
    """SIGTERM, as `stop` sends it: gone within the grace period, exit code 0."""
    seconds = stack.stop("replica-2")
    state = stack.inspect("replica-2")["State"]
    report.expect(seconds < GRACE_SECONDS, f"it took {seconds:.0f} s")
    report.expect(state["ExitCode"] == 0, f"exit code {state['ExitCode']}")
    report.found(f"ended by SIGTERM after {seconds:.1f} s with exit code {state['ExitCode']}")
    stack.engine("start", stack.name("replica-2"))
    stack.wait_until_healthy("replica-2")


def draining(stack: Stack, report: Report) -> None:
    """The probes of Kubernetes, played: ready falls at SIGTERM, requests are answered on."""
    address = stack.address("replica-2")
    client = Client(address, 8000, stack.key)
    probes = {path: client.status(path) for path in ("/health/live", "/health/ready")}
    report.expect(set(probes.values()) == {200}, f"before SIGTERM: {probes}")
    first = stack.inspect("replica-2")["State"]["StartedAt"]
    began = time.monotonic()
    stack.engine("kill", "--signal", signal.SIGTERM.name, stack.name("replica-2"))
    wait_for(lambda: client.status("/health/ready") == 503, 2, "readiness to fall")
    fell = time.monotonic() - began
    answered = client.predict(["a parcel"]).status
    report.expect(answered == 200, f"a prediction while it drains: {answered}")
    report.expect(client.status("/health/live") == 200, "not alive while it drains")
    client.close()
    wait_for(lambda: has_ended(stack, first), GRACE_SECONDS, "the end")
    report.found(
        f"not ready after {fell:.2f} s, answering on, gone after {time.monotonic() - began:.1f} s"
    )
    stack.engine("start", stack.name("replica-2"))
    stack.wait_until_healthy("replica-2")
