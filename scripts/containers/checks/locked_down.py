"""What a replica's container may do: nothing but answer. Read from inside and from its process."""

import re

from containers.engine.command import CommandError
from containers.report import Report
from containers.stack import REPLICAS, Stack

OUTSIDE = """
import socket
for address in (("1.1.1.1", 443), ("9.9.9.9", 53)):
    try:
        socket.create_connection(address, timeout=2).close()
    except OSError:
        continue
    print(address)
try:
    print(socket.gethostbyname("example.org"))
except OSError:
    pass
"""


def process(stack: Stack, report: Report) -> None:
    """User 10001, no capabilities, no new privileges, a root that cannot be written."""
    for replica in REPLICAS:
        status = stack.execute(replica, "cat", "/proc/1/status")
        report.expect(field(status, "Uid") == "10001", f"{replica} runs as {field(status, 'Uid')}")
        for kind in ("CapEff", "CapPrm", "CapBnd", "CapInh"):
            report.expect(int(field(status, kind), 16) == 0, f"{replica} has capabilities: {kind}")
        report.expect(field(status, "NoNewPrivs") == "1", f"{replica} may gain privileges")
        for path in ("/app/x", "/venv/x", "/models/x", "/keys/x", "/etc/x"):
            report.expect(not can_write(stack, replica, path), f"{replica} can write {path}")
        report.expect(can_write(stack, replica, "/tmp/x"), f"{replica} cannot write /tmp")  # noqa: S108
    report.found("user 10001, no capabilities, read-only root")


def field(status: str, name: str) -> str:
    """The first value of a line of /proc/PID/status."""
    found = re.search(rf"^{name}:\s*(\S+)", status, re.MULTILINE)
    return found[1] if found else ""


def can_write(stack: Stack, service: str, path: str) -> bool:
    """Whether a file can be made there, by the container's own user."""
    try:
        stack.execute(service, "sh", "-c", f"echo x > {path}")
    except CommandError:
        return False
    return True


def network(stack: Stack, report: Report) -> None:
    """A replica has no way out, where the gateway has one; no address or name is reached."""
    for replica in REPLICAS:
        report.expect(not has_way_out(stack, replica), f"{replica} has a default route")
        reached = stack.execute(replica, "python", "-c", OUTSIDE)
        report.expect(not reached.strip(), f"{replica} reached {reached.split()}")
    report.expect(has_way_out(stack, "gateway"), "the gateway has no default route either")
    published = stack.inspect("replica-1")["NetworkSettings"].get("Ports") or {}
    report.expect(not any(published.values()), f"replica-1 publishes {published}")
    report.found("nothing outside is reached, nothing of a replica is published")


def has_way_out(stack: Stack, service: str) -> bool:
    """Whether its routing table has a default route; a machine that is cut off shows this only."""
    lines = stack.execute(service, "cat", "/proc/net/route").splitlines()[1:]
    return any(line.split()[1] == "00000000" for line in lines)


def memory_limit(stack: Stack, report: Report) -> None:
    """The limits of the compose file are those of the container."""
    settings = stack.inspect("replica-1")["HostConfig"]
    report.expect(settings["Memory"] == 4 << 30, f"memory {settings['Memory']}")
    report.expect(settings["PidsLimit"] == 256, f"pids {settings['PidsLimit']}")
    report.found("4 GB, 256 processes")
