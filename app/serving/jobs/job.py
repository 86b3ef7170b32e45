"""Job: an evaluation that was handed in, from queued to its end."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self, get_args

import msgspec

State = Literal["queued", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
JSON_COLUMNS = ("reading", "options", "error", "headline")
BOOLEAN_COLUMNS = ("keep", "pinned", "counted")


def new_id() -> str:
    """A name that nobody can guess."""
    return secrets.token_hex(16)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A row of the table. Times are seconds since 1970 by the database's clock."""

    model: str
    version: str
    """The version that was current when the job was handed in."""
    upload: str
    """SHA-256 of the test set as it was sent."""
    storage: str
    """The id of the data folder that has the upload."""
    reading: Mapping[str, Any]
    options: Mapping[str, Any]
    id: str = field(default_factory=new_id)
    batch: str = ""
    """What jobs of one request share."""
    state: State = "queued"
    data: str | None = None
    """SHA-256 of the test set, decompressed; None: not known yet."""
    name: str = ""
    """The file's name, as it was sent."""
    owner: str | None = None
    """The id of the key that handed it in."""
    keep: bool = True
    """Whether the upload stays after the end."""
    created: float = 0.0
    started: float | None = None
    """When the try that counts began."""
    finished: float | None = None
    due: float = 0.0
    """Not to be tried before."""
    lease_until: float | None = None
    worker: str | None = None
    token: int = 0
    """The number of the try; every claim raises it, and only writes with the highest one count."""
    deaths: int = 0
    """Tries whose worker was not heard of any more."""
    failures: int = 0
    """Tries that failed by themselves."""
    error: Mapping[str, Any] | None = None
    documents_done: int = 0
    documents_expected: int | None = None
    headline: Mapping[str, Any] | None = None
    """The main figures of the report."""
    bytes: int = 0
    """What the results take on disk."""
    pinned: bool = False
    note: str = ""
    counted: bool = False
    """Whether telemetry and quotas have its end."""

    @property
    def is_ended(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.state in ENDED

    def row(self) -> dict[str, Any]:
        """The values of its columns."""
        values = {column: getattr(self, column) for column in COLUMNS}
        for column in JSON_COLUMNS:
            values[column] = encoded(values[column])
        return values | {column: int(values[column]) for column in BOOLEAN_COLUMNS}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """The job of these column values."""
        values = dict(row)
        for column in JSON_COLUMNS:
            values[column] = None if values[column] is None else _decoded(values[column])
        return cls(**values | {column: bool(values[column]) for column in BOOLEAN_COLUMNS})


COLUMNS = tuple(column.name for column in fields(Job))


def encoded(value: Mapping[str, Any] | None) -> str | None:
    """A mapping as JSON of ASCII characters, which every database stores; None stays None."""
    return None if value is None else json.dumps(dict(value), separators=(",", ":"))


def _decoded(text: str) -> Any:
    """What `encoded` wrote; by a decoder that takes a third of the time, for lists of many jobs."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:  # half a surrogate pair, which only the slower one reads
        return json.loads(text)


@dataclass(frozen=True)
class JobProgress:
    """How far a try is; `expected` is an estimate, None where there is none yet."""

    done: int = 0
    expected: int | None = None
