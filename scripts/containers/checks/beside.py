"""The profiles beside the service: Prometheus scrapes it, PostgreSQL keeps its evaluations."""

import json
from urllib.parse import quote

from containers.checks.answers import handed_in, micro_f1
from containers.client import Client
from containers.report import Report
from containers.stack import REPLICAS, Stack, wait_for

PASSWORD = "made-for-this-run"  # noqa: S105 - of a database that this run makes and removes


def monitoring(stack: Stack, report: Report) -> None:
    """Prometheus finds both replicas and knows every alert."""
    stack.up("prometheus", profile="monitoring")
    client = Client(stack.address("prometheus"), 9090)
    wait_for(lambda: client.status("/-/ready") == 200, 60, "Prometheus to be ready")
    asked = f"/api/v1/query?query={quote('sum(up)')}"
    wait_for(lambda: value(client, asked) == 2, 60, "both replicas scraped")
    groups = client.ask("GET", "/api/v1/rules").json["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    report.expect(all(rule["health"] != "err" for rule in rules), "an alert cannot be evaluated")
    report.found(f"2 replicas scraped, {len(rules)} alerts")
    stack.remove("prometheus")


def value(client: Client, path: str) -> float:
    """The one value of an instant query, 0 where there is none."""
    result = json.loads(client.ask("GET", path).body)["data"]["result"]
    return float(result[0]["value"][1]) if result else 0.0


def postgresql(stack: Stack, report: Report) -> None:
    """Evaluations in PostgreSQL, listed by either replica, also in a cluster without a locale."""
    url = f"postgresql://labelserve:{PASSWORD}@postgres/labelserve"
    stack.settings |= {"POSTGRES_PASSWORD": PASSWORD, "LABELSERVE_JOBS_URL": url}
    stack.up("postgres", profile="postgres")
    stack.wait_until_healthy("postgres")
    stack.remove(*REPLICAS)
    stack.up(*REPLICAS)
    stack.wait_until_healthy(*REPLICAS)
    figures = micro_f1(handed_in(stack, (stack.folder / "data" / "test.jsonl").read_bytes()))
    clients = [Client(stack.address(name), 8000, stack.key) for name in REPLICAS]
    listed = [len(one.ask("GET", "/evaluations").json["evaluations"]) for one in clients]
    report.expect(listed == [1, 1], f"the replicas list {listed}")
    report.found(f"micro-F1 {figures:.3f} by a worker; both replicas list it; {encoding(stack)}")


def encoding(stack: Stack) -> str:
    """How the database says that it encodes text."""
    asked = "psql --username=labelserve --tuples-only --command='SHOW server_encoding'"
    return stack.execute("postgres", "sh", "-c", f"PGPASSWORD={PASSWORD} {asked}").strip()
