"""manifest.json: everything about a model but its arrays, strict, checked by its own checksum."""

import hashlib
import json
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from app.errors import DamagedArtifactError, FormatVersionError

FORMAT, OLDEST_FORMAT = 2, 1
"""What is written, and from which on everything is read; docs/artifacts.md says what changed."""
NOT_SEALED = {"version", "created", "timings", "checksum"}
"""Fields that may differ between two trainings of the same thing: not under the checksum."""

MOST_EDGES = 100

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


class Strict(BaseModel):
    """No unknown field, no conversion, no NaN, no change after reading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class File(Strict):
    """One .npy file, as it must be found."""

    size: Count
    dtype: str
    shape: list[Count]
    sha256: Sha256


class Part(Strict):
    """One state: its kind and settings, the names of its arrays, its parts."""

    kind: str
    settings: dict[str, JsonValue]
    arrays: list[str]
    parts: dict[str, "Part"]


class Data(Strict):
    """What the model was trained on, without a word of it."""

    sha256: Sha256
    counts: dict[str, Count]


class Golden(Strict):
    """A made-up document and the labels it must rank first: [label number, score] by falling score.

    `text` for models of texts, `features` ([index, value]) for models of ready-made features.
    """

    text: str | None = None
    features: list[tuple[Count, float]] | None = None
    top: list[tuple[Count, float]]

    @model_validator(mode="after")
    def _is_one_document(self) -> "Golden":
        if (self.text is None) == (self.features is None):
            raise ValueError("a golden document has either text or features")
        return self


class HistogramBins(Strict):
    """A measure of held-out documents, counted: below the first edge, between two, above the last.

    A value equal to an edge is below it.
    """

    edges: list[float] = Field(min_length=1, max_length=MOST_EDGES)
    counts: list[Count]

    @model_validator(mode="after")
    def _are_bins(self) -> "HistogramBins":
        if len(self.counts) != len(self.edges) + 1 or not sum(self.counts):
            raise ValueError("a histogram has documents, in one bin more than edges")
        if any(high <= low for low, high in pairwise(self.edges)):
            raise ValueError("the edges of a histogram rise")
        return self


class Manifest(Strict):
    """The whole file."""

    format: Literal[1, 2]
    version: str
    created: str
    labels: Count
    state: Part
    files: dict[str, File]
    data: Data
    seed: int
    recipe: dict[str, JsonValue]
    packages: dict[str, str]
    timings: dict[str, float]
    figures: dict[str, JsonValue]
    golden: list[Golden]
    document_histograms: dict[str, HistogramBins] | None = None
    """Measures of held-out documents, for drift; models written before have none."""
    checksum: Sha256


def manifest_bytes(fields: dict[str, Any]) -> bytes:
    """The file's content for these fields, with `format` and `checksum` added: canonical JSON."""
    complete = {**fields, "format": FORMAT}
    complete["checksum"] = checksum(complete)
    Manifest.model_validate_json(json.dumps(complete))
    return json.dumps(complete, sort_keys=True, indent=1, allow_nan=False).encode() + b"\n"


def read_manifest(content: bytes, place: str) -> Manifest:
    """The manifest in these bytes; `place` is what the messages call the version."""
    fields = _json_object(content, place)
    _check_format(fields, place)
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as invalid:
        where = ".".join(str(step) for step in invalid.errors()[0]["loc"][:3]) or "the whole"
        raise DamagedArtifactError(
            f"{place}: manifest.json is not as promised, at {where}"
        ) from None
    if manifest.checksum != checksum(fields):
        raise DamagedArtifactError(f"{place}: manifest.json was changed: its checksum differs")
    return manifest


def checksum(fields: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of all fields that equal trainings share."""
    sealed = {name: value for name, value in fields.items() if name not in NOT_SEALED}
    return hashlib.sha256(json.dumps(sealed, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _json_object(content: bytes, place: str) -> dict[str, Any]:
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        raise DamagedArtifactError(f"{place}: manifest.json is not JSON") from None
    if not isinstance(fields, dict):
        raise DamagedArtifactError(f"{place}: manifest.json is not a JSON object")
    return fields


def _check_format(fields: dict[str, Any], place: str) -> None:
    found = fields.get("format")
    if not isinstance(found, int):
        raise DamagedArtifactError(f"{place}: manifest.json names no format version")
    if OLDEST_FORMAT <= found <= FORMAT:
        return
    packages = fields.get("packages")
    writer = packages.get("labelserve") if isinstance(packages, dict) else None
    use = f"labelserve {writer} or newer" if isinstance(writer, str) else "a newer labelserve"
    raise FormatVersionError(
        f"{place}: written in format {found}, this labelserve reads formats "
        f"{OLDEST_FORMAT} to {FORMAT}; use {use}"
    )
