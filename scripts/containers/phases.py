"""The order of the checks: nginx, HAProxy, little memory, PostgreSQL; or one request alone."""

from collections.abc import Callable
from functools import partial

from containers.checks import answers, beside, locked_down, logs, memory, restarts, training
from containers.client import Client
from containers.images.service_image import IMAGE, ServiceImage
from containers.report import Report
from containers.stack import REPLICAS, Stack, wait_for

Check = Callable[[Stack, Report], None]

HAPROXY = "deploy/haproxy/compose.yml"
EVERY_GATEWAY: dict[str, Check] = {
    "labels": answers.health_and_labels,
    "evaluation": answers.evaluation,
    "logs": logs.json_lines,
    "rolling restart": restarts.rolling,
    "SIGKILL of a replica": restarts.killed,
}
ONCE: dict[str, Check] = {
    "process": locked_down.process,
    "network": locked_down.network,
    "limits": locked_down.memory_limit,
    "training": training.picked_up,
    "SIGTERM": restarts.told_to_end,
    "probes": restarts.draining,
    "monitoring": beside.monitoring,
}


def whole(stack: Stack, report: Report, image: ServiceImage) -> None:
    """Every check, in order; without a stack that answers there is nothing to ask."""
    stack.prepare()
    if not report.check("start", partial(start, stack, report)):
        return
    run(stack, report, {**EVERY_GATEWAY, **ONCE}, "nginx")
    if report.check("start with HAProxy", partial(use_haproxy, stack, report)):
        run(stack, report, EVERY_GATEWAY, "HAProxy")
    stack.files.remove(HAPROXY)
    report.check("start with nginx again", partial(use_gateway, stack))
    run(stack, report, {"hostile load": memory.hostile_load}, "nginx")
    report.check("image with `postgres`", lambda: image.build(report, extras="postgres"))
    run(stack, report, {"PostgreSQL": beside.postgresql}, "nginx")


def run(stack: Stack, report: Report, checks: dict[str, Check], gateway: str) -> None:
    """Some checks with the gateway that runs now."""
    for name, check in checks.items():
        report.check(f"{name} ({gateway})", partial(check, stack, report))


def start(stack: Stack, report: Report) -> None:
    """Key, data, model, replicas, gateway."""
    stack.make_key()
    training.write_demo(stack, report)
    training.train(stack, report)
    stack.up(*REPLICAS)
    seconds = stack.wait_until_healthy(*REPLICAS)
    stack.up("gateway")
    stack.wait_until_healthy("gateway")
    report.found(f"a key, a model trained, two replicas ready after {seconds:.1f} s")


def use_haproxy(stack: Stack, report: Report) -> None:
    """HAProxy in the place of nginx."""
    stack.files.append(HAPROXY)
    use_gateway(stack)
    report.found(stack.execute("gateway", "haproxy", "-v").partition(" 20")[0])


def use_gateway(stack: Stack) -> None:
    """A new gateway container, as the compose files now say."""
    stack.stop("gateway")
    stack.remove("gateway")
    stack.up("gateway")
    stack.wait_until_healthy("gateway")


def build_alone(stack: Stack, report: Report, image: ServiceImage) -> None:
    """One container of the image, asked once: it holds no model, so it is alive and not ready."""
    report.check("one request", partial(one_request, stack, report))


def one_request(stack: Stack, report: Report) -> None:
    """Start the image alone, locked down as compose has it, and ask for its health."""
    port = f"--publish=127.0.0.1:{stack.port}:8000"
    words = ["run", "--detach", "--read-only", "--cap-drop=ALL", "--tmpfs=/tmp", port]
    stack.engine(*words, "--name=labelserve-check-one", "--env=LABELSERVE_AUTH=none", IMAGE)
    client = Client("127.0.0.1", stack.port)
    seconds = wait_for(lambda: client.status("/health/live") == 200, 60, "an answer")
    report.expect(client.status("/health/ready") == 503, "ready without a model")
    stack.engine("rm", "--force", "labelserve-check-one")
    report.found(f"alive after {seconds:.1f} s")
