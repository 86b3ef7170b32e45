"""Trials: pointers beside `current` to versions that are tried on live traffic.

`models/NAME/shadow` answers a share of the documents in the background, `models/NAME/canary` a
share of the callers. Each is one line of JSON, replaced by one atomic rename, so that services
that may only read the folder see a trial begin and end when they look next.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from app.artifacts import folders
from app.artifacts.npy import open_plain
from app.artifacts.versions import is_version
from app.errors import DamagedArtifactError, InvalidRequestError, errno_text

TrialKind = Literal["shadow", "canary"]
KINDS: tuple[TrialKind, ...] = ("shadow", "canary")
HEADER = re.compile(r"[a-z0-9-]{1,64}")
MOST_BYTES = 500


@dataclass(frozen=True, slots=True)
class VersionTrial:
    """A version on trial, and its share of the traffic; `by` is for a canary alone."""

    version: str
    share: float
    by: str | None = None
    """The request header whose value tells callers apart, in lower case; None: who calls."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InvalidRequestError("--share is a number above 0 and at most 1")
        if self.by is not None and not HEADER.fullmatch(self.by):
            raise InvalidRequestError("--by is the name of a header: a-z 0-9 -, 64 at most")


def read_trial(folder: Path, kind: TrialKind) -> VersionTrial | None:
    """The trial that a model's folder names; None where there is none."""
    place = f"{folder.name}: {kind}"
    try:
        with open_plain(folder / kind) as file:
            content = file.read(MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as failed:
        raise DamagedArtifactError(f"{place}: {errno_text(failed)}") from None
    return _parsed(content, place)


def write_trial(folder: Path, kind: TrialKind, trial: VersionTrial) -> None:
    """Begin a trial, in place of an earlier one of its kind."""
    if trial.by is not None and kind != "canary":
        raise InvalidRequestError("a shadow answers nobody: only a canary has callers")
    folders.write_file(folder / kind, json.dumps(asdict(trial)).encode() + b"\n")


def end_trial(folder: Path, kind: TrialKind) -> None:
    """End a trial, if there is one."""
    with folders.disk_errors(folder):
        (folder / kind).unlink(missing_ok=True)
        folders.sync_folder(folder)


def _parsed(content: bytes, place: str) -> VersionTrial:
    try:
        fields = json.loads(content)
        trial = VersionTrial(fields["version"], float(fields["share"]), fields["by"])
    except (ValueError, TypeError, KeyError, InvalidRequestError, RecursionError):
        raise DamagedArtifactError(f"{place} is not as `labelserve models` writes it") from None
    if not isinstance(trial.version, str) or not is_version(trial.version):
        raise DamagedArtifactError(f"{place} names no version")
    return trial
