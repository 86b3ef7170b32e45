"""What deploy/ says is true of the service: settings, ports, paths, limits, figures, pages."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.api.app import create_app
from app.api.evaluations.events import SILENT_SECONDS
from app.server.http_server import KEEP_ALIVE_SECONDS, MAX_GRACE_SECONDS
from app.serving.service import Service
from app.serving.telemetry.telemetry import Telemetry
from app.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = ROOT / "docker-compose.yml"
YAML = [COMPOSE, *sorted(DEPLOY.rglob("*.yml")), *sorted(DEPLOY.rglob("*.yaml"))]
NGINX = (DEPLOY / "nginx" / "nginx.conf").read_text()
HAPROXY = (DEPLOY / "haproxy" / "haproxy.cfg").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def resource(file: str) -> Any:
    return read(DEPLOY / "kubernetes" / file)


DEPLOYMENT = resource("deployment.yaml")["spec"]["template"]["spec"]
KSERVE = read(DEPLOY / "kserve" / "inferenceservice.yaml")["spec"]["predictor"]
IMAGE_SETTINGS = dict(re.findall(r"(LABELSERVE_\w+)=(\S+)", DOCKERFILE))
SETTINGS = Settings.from_environment(IMAGE_SETTINGS)


def test_the_yaml_files_parse_and_kustomize_names_every_manifest() -> None:
    assert all(isinstance(read(path), dict) for path in YAML)
    listed = set(resource("kustomization.yaml")["resources"])
    present = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")}
    assert listed == present - {"kustomization.yaml"}


def environments() -> dict[str, dict[str, str]]:
    compose = {
        f"compose {name}": {key: str(value) for key, value in service["environment"].items()}
        for name, service in read(COMPOSE)["services"].items()
        if "environment" in service
    }
    kserve = {item["name"]: item["value"] for item in KSERVE["containers"][0]["env"]}
    return {**compose, "configmap": resource("configmap.yaml")["data"], "kserve": kserve}


@pytest.mark.parametrize("place", environments())
def test_every_variable_is_a_setting_with_a_good_value(place: str) -> None:
    plain = re.compile(r"\$\{\w+:-(.*)\}")  # compose's ${NAME:-default}
    given = {key: plain.sub(r"\1", value) for key, value in environments()[place].items()}
    settings = Settings.from_environment({**IMAGE_SETTINGS, **given})
    grace = {"configmap": DEPLOYMENT, "kserve": KSERVE}.get(place, {})
    seconds = grace.get("terminationGracePeriodSeconds", 45)
    assert seconds > settings.drain_seconds + max(settings.request_seconds, MAX_GRACE_SECONDS)


def test_uploads_of_all_workers_fit_into_a_pod() -> None:
    for pod, given in (
        (DEPLOYMENT, resource("configmap.yaml")["data"]),
        (KSERVE, environments()["kserve"]),
    ):
        workers, kept = given["LABELSERVE_WORKERS"], given["LABELSERVE_KEEP_EVALUATION_BYTES"]
        (limit,) = [v["emptyDir"]["sizeLimit"] for v in pod["volumes"] if "emptyDir" in v]
        uploads = int(workers) * SETTINGS.max_evaluations * SETTINGS.max_upload_bytes
        # With three working files each, and what is kept of evaluations that were handed in.
        assert int(limit.removesuffix("Gi")) << 30 >= 4 * uploads + int(kept)


def test_ports_are_the_same_everywhere() -> None:
    exposed = re.search(r"^EXPOSE (\d+) (\d+)$", DOCKERFILE, re.MULTILINE)
    assert exposed
    assert exposed.groups() == (str(SETTINGS.port), str(SETTINGS.metrics_port))
    assert set(re.findall(r"server replica-\d:(\d+)", NGINX)) == {str(SETTINGS.port)}
    assert set(re.findall(r"replica-\d:(\d+)", HAPROXY)) == {str(SETTINGS.port)}
    ports = {port["name"]: port["containerPort"] for port in DEPLOYMENT["containers"][0]["ports"]}
    assert ports == {"http": SETTINGS.port, "metrics": SETTINGS.metrics_port}
    assert KSERVE["containers"][0]["ports"][0]["containerPort"] == SETTINGS.port
    scraped = read(DEPLOY / "prometheus" / "prometheus.yml")["scrape_configs"][0]
    targets = scraped["static_configs"][0]["targets"]
    assert targets == [f"replica-{n}:{SETTINGS.metrics_port}" for n in (1, 2)]


def test_every_path_that_is_asked_for_exists() -> None:
    open_ = Settings(auth="none")
    paths = set(create_app(Service.of(open_)).openapi()["paths"])
    containers = [DEPLOYMENT["containers"][0], KSERVE["containers"][0]]
    probes = [
        container[kind]["httpGet"]["path"]
        for container in containers
        for kind in ("startupProbe", "livenessProbe", "readinessProbe")
        if kind in container
    ]
    probes += re.findall(r"/health/\w+", DOCKERFILE)
    assert set(probes) <= paths
    assert {"/predict", "/evaluate"} <= paths


def location(name: str) -> str:
    found = re.search(rf"location {re.escape(name)} {{(.*?)\n        }}", NGINX, re.DOTALL)
    assert found, name
    return found[1]


def megabytes(block: str) -> int:
    found = re.search(r"client_max_body_size (\d+)m;", block)
    assert found
    return int(found[1]) << 20


def seconds(block: str, directive: str) -> float:
    found = re.search(rf"\b{directive} (\d+)s;", block)
    assert found
    return float(found[1])


def test_the_gateway_lets_through_what_the_service_takes() -> None:
    assert megabytes(location("= /predict")) == SETTINGS.max_body_bytes
    assert megabytes(location("/v2/")) == SETTINGS.max_body_bytes
    assert megabytes(location("= /evaluate")) - SETTINGS.max_upload_bytes == 1 << 20
    handed_in = location("~ ^/(evaluations|uploads/[0-9a-f]+)$")
    assert megabytes(handed_in) - SETTINGS.max_upload_bytes == 1 << 20
    assert seconds(handed_in, "proxy_read_timeout") > SETTINGS.evaluate_seconds
    assert seconds(NGINX, "proxy_read_timeout") > max(SETTINGS.request_seconds, SILENT_SECONDS)
    assert seconds(location("= /evaluate"), "proxy_read_timeout") > SETTINGS.evaluate_seconds


def test_haproxy_lets_through_what_the_service_takes() -> None:
    longest = dict(re.findall(r"acl (is_too_long\w*) .* gt (\d+)", HAPROXY))
    assert int(longest["is_too_long_prediction"]) == SETTINGS.max_body_bytes
    assert int(longest["is_too_long_evaluation"]) - SETTINGS.max_upload_bytes == 1 << 20
    waits = [int(found) for found in re.findall(r"timeout server (\d+)s", HAPROXY)]
    assert waits[0] > SETTINGS.request_seconds
    assert waits[1] > SETTINGS.evaluate_seconds
    for path in ("str /evaluate", "str /evaluations", "beg /uploads/"):
        assert re.search(rf"set-timeout server 905s if .*{{ path,url_dec -m {path} }}", HAPROXY)


def test_the_gateway_closes_idle_connections_first() -> None:
    upstream = re.search(r"upstream labelserve {(.*?)\n    }", NGINX, re.DOTALL)
    assert upstream
    assert seconds(upstream[1], "keepalive_timeout") < KEEP_ALIVE_SECONDS
    for name in ("pool-purge-delay", "timeout http-keep-alive"):
        found = re.search(rf"{name} (\d+)s", HAPROXY)
        assert found
        assert int(found[1]) < KEEP_ALIVE_SECONDS


def test_only_what_changes_nothing_is_asked_again() -> None:
    again = re.findall(r"location (\S+ ?\S*) {[^}]*non_idempotent", NGINX)
    assert [place.strip() for place in again] == ["= /predict", "/v2/"]
    assert "proxy_request_buffering off" in location("= /evaluate")
    once = "disable-l7-retry if !is_prediction !{ method GET HEAD OPTIONS }"
    assert once in HAPROXY
    predictions = re.findall(r"acl is_prediction .* -m (\S+ \S+)", HAPROXY)
    assert predictions == ["str /predict", "beg /v2/"]


def test_the_gateway_passes_on_no_identity_of_a_client() -> None:
    for header in (SETTINGS.proxy_user_header, SETTINGS.proxy_groups_header):
        assert re.search(rf'proxy_set_header {header} "";', NGINX, re.IGNORECASE)
        assert re.search(rf"http-request del-header {header}\n", HAPROXY, re.IGNORECASE)


def test_containers_of_ours_are_locked_down() -> None:
    services = read(COMPOSE)["services"]
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    replicas = [services["replica-1"], services["replica-2"]]
    assert all("./models:/models:ro" in replica["volumes"] for replica in replicas)
    for container in (DEPLOYMENT["containers"][0], KSERVE["containers"][0]):
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
    for pod in (DEPLOYMENT, KSERVE):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["enableServiceLinks"] is False


def images() -> list[str]:
    """Every image that compose, Kubernetes or KServe would pull or run, as `name:tag`."""
    compose = [service["image"] for service in read(COMPOSE)["services"].values()]
    tags = {entry["name"]: entry["newTag"] for entry in resource("kustomization.yaml")["images"]}
    pods = [f"{c['image']}:{tags[c['image']]}" for c in DEPLOYMENT["containers"]]
    return [*compose, *pods, *(c["image"] for c in KSERVE["containers"])]


def test_images_are_named_by_their_whole_version_and_ours_by_this_one() -> None:
    others = [name for name in images() if not re.search(r":v?\d+\.\d+\.\d+$", name)]
    assert re.fullmatch(r"postgres:\d+\.\d+", " ".join(others))  # whose versions have two numbers
    ours = {name for name in images() if name.startswith("labelserve:")}
    assert ours == {f"labelserve:{version('labelserve')}"}
    for file in (DOCKERFILE, (ROOT / "docs" / "operations.md").read_text()):
        built = set(re.findall(r"docker build .*-t (\S+)", file))
        assert built == ours


def telemetry() -> dict[str, set[str]]:
    """Every series the service has, with its labels."""
    found: dict[str, set[str]] = {"up": {"instance", "job"}}
    shown = (family for family in Telemetry().snapshot() if family.is_shown)
    for family in shown:
        labels = {*family.label_names, "instance", "job"}
        for suffix in ("_bucket", "_sum", "_count") if family.kind == "histogram" else ("",):
            name = family.name + ("_total" if family.kind == "counter" else suffix)
            found[name] = labels | ({"le"} if suffix == "_bucket" else set())
    return found


def expressions() -> list[str]:
    rules = read(DEPLOY / "prometheus" / "alerts.yml")["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    return [rule["expr"] for rule in rules] + asked


SERIES = re.compile(r"\b(up|http_\w+|labelserve_\w+)(?:{([^}]*)})?")


@pytest.mark.parametrize("expression", expressions())
def test_dashboard_and_alerts_ask_for_figures_that_exist(expression: str) -> None:
    known = telemetry()
    used = SERIES.findall(expression.replace('"labelserve"', '""'))
    assert used
    for name, selector in used:
        assert name in known
        assert set(re.findall(r"(\w+)=", selector)) <= known[name]
    grouped = {
        word for by in re.findall(r"\bby \(([^)]*)\)", expression) for word in by.split(", ")
    }
    assert grouped <= set.union(*(known[name] for name, _ in used))
    assert expression.count("(") == expression.count(")")


def test_every_figure_of_the_service_is_on_the_dashboard() -> None:
    shown = json.dumps(json.loads((DEPLOY / "grafana" / "dashboard.json").read_text()))
    families = {re.sub("_(total|bucket|sum|count)$", "", name) for name in telemetry()}
    assert [name for name in families if name not in shown] == []


def test_every_alert_points_to_a_page_that_says_what_to_do() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    headings = {line.lstrip("# ").lower() for line in page.splitlines() if line.startswith("#")}
    for rule in read(DEPLOY / "prometheus" / "alerts.yml")["groups"][0]["rules"]:
        _, _, heading = rule["annotations"]["action"].partition(": ")
        assert heading in headings


def test_a_replica_that_is_made_anew_keeps_both_of_its_addresses() -> None:
    services = read(COMPOSE)["services"]
    inside = [services[f"replica-{n}"]["networks"]["inside"] for n in (1, 2)]
    for kind in ("ipv4_address", "mac_address"):
        assert len({network[kind] for network in inside}) == len(inside)


def test_compose_asks_for_nothing_that_one_engine_alone_knows() -> None:
    for service in read(COMPOSE)["services"].values():
        assert service["logging"]["driver"] == "json-file"
        assert not re.search(r"\b[ug]id=", " ".join(service["tmpfs"]))


def test_haproxy_takes_the_place_of_the_gateway_and_of_nothing_else() -> None:
    services = read(DEPLOY / "haproxy" / "compose.yml")["services"]
    assert list(services) == ["gateway"]
    assert re.fullmatch(r"haproxy:\d+\.\d+\.\d+", services["gateway"]["image"])
    (volume,) = services["gateway"]["volumes"]
    assert (ROOT / volume.split(":")[0]).read_text() == HAPROXY


def test_the_image_is_built_on_any_base_and_is_the_service_unless_another_is_asked_for() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    assert {base for base, name in stages if name in ("build", "runtime")} == {"${BASE}"}
    assert stages[-1] == ("service", "")
    assert {"service", "neural"} <= {name for _, name in stages}
    assert "target: ${TARGET:-service}" in COMPOSE.read_text()


def test_the_labels_of_the_image_say_what_it_is() -> None:
    labels = dict(re.findall(r'org\.opencontainers\.image\.([\w.]+)="([^"]*)"', DOCKERFILE))
    assert labels["version"] == version("labelserve")
    assert labels["licenses"] == "Apache-2.0"
    assert {"title", "description", "base.name"} <= set(labels)
