"""Settings: the environment, read once, as one frozen object that is passed on as an argument."""

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from app.errors import SettingsError

PREFIX = "LABELSERVE_"
NOT_SETTINGS = {"LABELSERVE_TEST_ALL", "LABELSERVE_BENCH_DATA", "LABELSERVE_SOAK_FIRST"}
"""Variables of our test and benchmark runs: known, but nothing the service reads."""

ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.\[\]:-]+")
SCOPES = ("predict", "evaluate", "admin")


def _words(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if value else ()


Words = Annotated[
    tuple[str, ...], BeforeValidator(lambda v: _words(v) if isinstance(v, str) else v)
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
PositiveSeconds = Annotated[float, Field(gt=0)]


class Settings(BaseModel):
    """Everything that can be set; `LABELSERVE_` + the name in capitals sets it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    models_dir: Path = Field(Path("models"), description="The folder of trained models.")
    default_model: Name | None = Field(
        None, description="The model that answers where a request names none."
    )
    required_models: Words = Field(
        (),
        description="Models without which the service is not ready; empty: the default model, "
        "else all. A `NAME@VERSION` here stays loaded beside the current version.",
    )
    poll_seconds: float = Field(
        2.0, gt=0, le=3600, description="How often `current` is looked at for new versions."
    )
    host: str = Field("127.0.0.1", description="The address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="The port to listen on; 0: any free one.")
    workers: int = Field(
        1, ge=1, le=256, description="Processes that serve; they share the models."
    )
    root_path: str = Field(
        "", pattern=r"^(/[A-Za-z0-9._~-]+)*$", description="The path a gateway serves this under."
    )
    auth: Literal["keys", "proxy", "none"] | None = Field(
        None,
        description="Who may call: `keys`, `proxy` or `none`; empty: `keys` where there is a "
        "keys file, else `none`, which is refused on any but a loopback address.",
    )
    api_keys_file: Path | None = Field(None, description="The keys, made by `labelserve keys`.")
    trusted_proxies: Words = Field(
        (), description="Addresses or networks whose identity headers are believed."
    )
    proxy_user_header: str = Field(
        "x-forwarded-user", description="With `AUTH=proxy`: the header that names the user."
    )
    proxy_groups_header: str = Field(
        "x-forwarded-groups", description="With `AUTH=proxy`: the header with the user's groups."
    )
    proxy_groups: Words = Field(
        ("labelserve-predict=predict", "labelserve-evaluate=evaluate", "labelserve-admin=admin"),
        description="With `AUTH=proxy`: `group=scope` pairs.",
    )
    cors_origins: Words = Field(
        (),
        description="Origins whose pages may call from a browser, such as `https://example.org`; "
        "`*`: all; empty: none.",
    )
    metrics_port: int | None = Field(
        None, ge=1, le=65535, description="A port of its own where `/metrics` is open."
    )
    max_body_bytes: int = Field(
        8 << 20, ge=1024, description="The longest body of a prediction request."
    )
    max_documents: int = Field(1000, ge=1, description="Documents a prediction request may hold.")
    max_text_characters: int = Field(
        1_000_000, ge=1, description="The longest text of one document; longer ones are 413."
    )
    max_upload_bytes: int = Field(
        1 << 30, ge=1024, description="The longest test set for `/evaluate`, after inflating."
    )
    max_concurrency: int = Field(
        8000, ge=1, description="Documents admitted at once in a worker; more are answered 429."
    )
    max_unsent_bytes: int = Field(
        256 << 20,
        ge=65_536,
        description="Bytes of large answers in a worker that clients have not read yet; beyond "
        "that, requests for more of them are answered 503.",
    )
    max_memory_percent: float = Field(
        95.0,
        gt=0,
        le=100,
        description="Where more of the memory is in use (of the machine, the cgroup or an rlimit), "
        "work is answered 503 until there is room again; 100: never.",
    )
    max_disk_percent: float = Field(
        98.0,
        gt=0,
        le=100,
        description="Where more of the disk of `DATA_DIR` is in use, uploads are answered 507 "
        "until there is room again; 100: only once it is full.",
    )
    max_evaluations: int = Field(
        2, ge=1, description="Evaluations at once in a worker; more are answered 429."
    )
    request_seconds: PositiveSeconds = Field(
        30.0, description="A prediction request, body included, may take this long."
    )
    evaluate_seconds: PositiveSeconds = Field(
        900.0, description="An evaluation, upload included, may take this long."
    )
    drain_seconds: float = Field(
        5.0, ge=0, le=3600, description="From not being ready to closing, after SIGTERM."
    )
    stall_seconds: float = Field(
        30.0,
        ge=2,
        le=3600,
        description="One of several workers that shows no sign of life for so long (it was "
        "stopped, or its event loop hangs) is killed and replaced.",
    )
    data_dir: Path = Field(
        Path("var"), description="Where uploads, evaluations and their database are kept."
    )
    jobs_url: str | None = Field(
        None,
        pattern=r"^postgres(ql)?://",
        description="The PostgreSQL database of evaluations, such as `postgresql://user@host/db`, "
        "which several replicas may share; empty: a SQLite file in `DATA_DIR`.",
    )
    job_workers: int = Field(
        1,
        ge=0,
        le=64,
        description="Processes that work on evaluations handed in, at low priority; 0: none here.",
    )
    keep_evaluations: int = Field(
        10_000, ge=1, description="So many evaluations are kept; the oldest go first."
    )
    keep_evaluation_days: float | None = Field(
        None, gt=0, description="Evaluations are kept for so many days; empty: for any time."
    )
    keep_evaluation_bytes: int = Field(
        20 << 30,
        ge=1 << 20,
        description="Evaluations and their data may take so many bytes; the oldest go first.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="What is logged; with `warning` or `error` no line a request."
    )
    docs: bool = Field(
        True, description="Whether the page at `/`, `/docs` and `/openapi.json` are served."
    )
    kernels: Literal["auto", "plain"] = Field(
        "auto",
        description="`auto`: compiled inner loops, and plain ones while those are being compiled; "
        "`plain`: plain ones everywhere.",
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """The settings of these variables; an unknown or wrong one is a SettingsError."""
        ours = {k: v for k, v in environment.items() if k.startswith(PREFIX)}
        known = {PREFIX + name.upper(): name for name in cls.model_fields}
        unknown = sorted(ours.keys() - known.keys() - NOT_SETTINGS)
        if unknown:
            raise SettingsError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
        values = {known[key]: value for key, value in ours.items() if key in known and value != ""}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise SettingsError("; ".join(map(_sentence, error.errors()))) from None

    @property
    def effective_auth(self) -> Literal["keys", "proxy", "none"]:
        """`auth`, or what follows from the rest where it is not spelt out."""
        if self.auth is not None:
            return self.auth
        return "keys" if self.api_keys_file else "none"

    @model_validator(mode="after")
    def _is_safe(self) -> Self:
        if self.auth is None and not self.api_keys_file and not _is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached from elsewhere: set LABELSERVE_API_KEYS_FILE, or "
                "spell out LABELSERVE_AUTH=none"
            )
        if self.effective_auth == "keys" and not self.api_keys_file:
            raise ValueError("LABELSERVE_AUTH=keys needs LABELSERVE_API_KEYS_FILE")
        if self.effective_auth == "proxy" and not self.trusted_proxies:
            raise ValueError("LABELSERVE_AUTH=proxy needs LABELSERVE_TRUSTED_PROXIES")
        for network in self.trusted_proxies:
            ipaddress.ip_network(network, strict=False)
        if self.metrics_port is not None and self.metrics_port == self.port:
            raise ValueError("LABELSERVE_METRICS_PORT and LABELSERVE_PORT must differ")
        for origin in self.cors_origins:
            if not ORIGIN.fullmatch(origin):
                raise ValueError(
                    "LABELSERVE_CORS_ORIGINS takes * or origins such as https://example.org:8443"
                )
        for pair in self.proxy_groups:
            if pair.partition("=")[2] not in SCOPES:
                raise ValueError("LABELSERVE_PROXY_GROUPS takes group=predict|evaluate|admin pairs")
        return self


def table() -> str:
    """All settings as a Markdown table: docs/settings.md."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = ",".join(default) if isinstance(default, tuple) else default
        cell = "" if shown in (None, "") else f"`{str(shown).lower() if shown is True else shown}`"
        lines.append(f"| `{PREFIX}{name.upper()}` | {cell} | {field.description} |")
    return "\n".join(lines) + "\n"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _sentence(error: Any) -> str:
    name = "".join(f"{PREFIX}{str(part).upper()}: " for part in error["loc"][:1])
    return name + str(error["msg"]).removeprefix("Value error, ")
