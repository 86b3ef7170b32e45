"""The queries of POST /evaluate and POST /evaluations: how to read the data, how to count."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.api.http.media_types import GUESSED, MULTIPART, NAMED
from app.datasets.base import ReadOptions
from app.datasets.cells.label_cells import AUTO, SEPARATORS
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.evaluation.options import MOST_SUSPECTS, EvaluationOptions, parse_k
from app.serving.jobs.job_options import upload_limits

COLUMN = r'^[^\x00-\x1f"\\]+$'
"""Names that every format can have: no control characters, no quotes."""
DECISIONS = f"How labels are decided, one of: {accepted(Use.EVALUATION)}."
HASHES = r"^[0-9a-f]{64}(,[0-9a-f]{64})*$"
MOST_MODELS, MOST_FILES = 50, 20
"""Of one request; it makes an evaluation for every pair."""


class EvaluateQuery(BaseModel):
    """The query: how to read the test set, and how to count."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    model: str | None = Field(None, max_length=200, description="`NAME` or `NAME@VERSION`.")
    k: str = Field("1,3,5", max_length=200, description="Ranks to measure at.")
    decision: str = Field("tuned", max_length=40, description=DECISIONS)
    beta: float = Field(1.0, gt=0, le=1000, allow_inf_nan=False, description="β of F_β.")
    zero_division: Literal["0", "1", "skip"] = Field("0", description="What 0/0 counts as.")
    include_test_labels: bool = Field(False, description="Count labels that were never trained.")
    unlabelled: Literal["keep", "drop"] = Field("keep", description="Documents without labels.")
    bootstrap: int = Field(0, ge=0, le=10_000, description="Resamples for confidence intervals.")
    suspects: int = Field(
        0, ge=0, le=MOST_SUSPECTS, description="List so many labels that are probably faults."
    )
    format: Literal["auto", "tsv", "jsonl", "json", "csv", "svmlight"] | None = Field(
        None, description="The data format, where the media type does not say it."
    )
    label_separator: str = Field(
        AUTO,
        min_length=1,
        max_length=10,
        description=f"Between the labels of a cell: {SEPARATORS}.",
    )
    text_columns: str = Field(
        "text", max_length=1000, pattern=COLUMN, description="Columns or fields, comma-separated."
    )
    label_column: str = Field(
        "labels", max_length=200, pattern=COLUMN, description="The column or field of labels."
    )
    on_error: Literal["fail", "skip"] = Field("fail", description="Bad records: fail or skip.")

    def options(self) -> EvaluationOptions:
        """How to count."""
        return EvaluationOptions(
            k=parse_k(self.k),
            decision=self.decision,
            beta=self.beta,
            zero_division=self.zero_division,
            include_test_labels=self.include_test_labels,
            unlabelled=self.unlabelled,
            bootstrap=self.bootstrap,
            suspects=self.suspects,
        )

    def reading(self, format_by_type: str, max_bytes: int) -> ReadOptions:
        """How to read, with every bound that holds over HTTP."""
        return ReadOptions(
            format=self.format or format_by_type,
            text_columns=tuple(self.text_columns.split(",")),
            label_column=self.label_column,
            label_separator=self.label_separator,
            on_error=self.on_error,
            limits=upload_limits(max_bytes),
        )


class EvaluationsQuery(EvaluateQuery):
    """The same for evaluations that are handed in, by several models on several files."""

    models: str | None = Field(
        None,
        min_length=1,
        max_length=5000,
        description="In place of `model`: several, comma-separated.",
    )
    upload: str | None = Field(
        None,
        max_length=65 * MOST_FILES,
        pattern=HASHES,
        description="In place of a body: the SHA-256 of a file that `PUT /uploads/{sha256}` "
        "stored, or of several.",
    )
    name: str = Field(
        "", max_length=200, description="What to call a file that does not come in a form."
    )
    check: bool = Field(False, description="Say what was read, and evaluate nothing.")
    keep: bool = Field(True, description="Whether the data stay on disk after the evaluation.")

    def references(self) -> list[str | None]:
        """The models asked for, each once; None: the default model."""
        if self.models is None:
            return [self.model]
        if self.model is not None:
            raise InvalidRequestError("model and models exclude each other; send one of them")
        names = list(dict.fromkeys(name.strip() for name in self.models.split(",")))
        if len(names) > MOST_MODELS or "" in names:
            raise InvalidRequestError(f"models has from 1 to {MOST_MODELS} names")
        return list(names)

    def uploads(self) -> list[str]:
        """The hashes of files that are there already."""
        return list(dict.fromkeys(self.upload.split(","))) if self.upload else []


FILE = {"type": "string", "format": "binary"}


def body(*, several: bool) -> dict[str, object]:
    """What the OpenAPI document says about the body of either route."""
    files = {"type": "array", "items": FILE, "maxItems": MOST_FILES} if several else FILE
    form = {"type": "object", "properties": {"file": files}, "required": ["file"]}
    return {
        "required": not several,
        "description": f"A test set. Media types that say its format: {', '.join(NAMED)}; with "
        "others the parameter `format` says it, or it is guessed.",
        # With the media types that generators of clients know; the others say no more.
        "content": {GUESSED.decode(): {"schema": FILE}, MULTIPART.decode(): {"schema": form}},
    }
