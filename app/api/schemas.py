"""What POST /predict reads and writes; one document's answer is in app/prediction/answers.py."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from app.datasets.base import ReadOptions
from app.datasets.cells.label_cells import AUTO
from app.datasets.input.limits import Limits
from app.prediction.answers import Prediction
from app.prediction.query import Query

LONGEST_NAME = 200
MOST_DOCUMENTS = 100_000  # the bound of the form; the settings have a lower one
MOST_LABELS = 10_000
MOST_K = 100_000
MOST_TERMS = 100
MOST_BELOW = 100

ModelName = Annotated[str, Meta(max_length=LONGEST_NAME, description="`NAME` or `NAME@VERSION`.")]


class Document(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A text with an id of the client's own, which comes back with its labels."""

    text: str
    id: Annotated[str, Meta(max_length=1000)] | None = None


class QueryParameters(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What is asked about documents: the one place of its names and bounds."""

    top_k: Annotated[int, Meta(ge=1, le=MOST_K, description="At most so many labels.")] | None = (
        None
    )
    operating_point: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="`tuned`, `precision>=P`, `recall>=R`, `f1`, `f0.5`, `f2`, each "
                "optionally `macro:…`; `each:precision>=P` for every label its own precision.",
            ),
        ]
        | None
    ) = None
    nearest: Annotated[
        bool,
        Meta(description="Take the nearest operating point where that one is unattainable."),
    ] = False
    threshold: Annotated[float, Meta(description="One cut on `score`.")] | None = None
    min_probability: (
        Annotated[float, Meta(ge=0, le=1, description="One cut on `probability`.")] | None
    ) = None
    labels: (
        Annotated[
            list[str],
            Meta(min_length=1, max_length=MOST_LABELS, description="Only these labels may come."),
        ]
        | None
    ) = None
    explain: (
        Annotated[int, Meta(ge=1, le=MOST_TERMS, description="Terms a label is explained by.")]
        | None
    ) = None

    below_cut: (
        Annotated[
            int,
            Meta(ge=1, le=MOST_BELOW, description="So many labels that were not assigned, too."),
        ]
        | None
    ) = None

    ancestors: Annotated[
        bool, Meta(description="Whether labels come with those above them in the labels file.")
    ] = False

    def query(self) -> Query:
        """What is asked, apart from the documents and the model."""
        return Query(
            self.top_k,
            self.operating_point,
            self.threshold,
            self.min_probability,
            None if self.labels is None else tuple(self.labels),
            self.explain,
            self.nearest,
            self.ancestors,
            below_cut=self.below_cut,
        )


class StreamParameters(QueryParameters, forbid_unknown_fields=True, kw_only=True):
    """What is asked about the documents of a stream, and of which model."""

    model: ModelName | None = None


class TableParameters(StreamParameters, forbid_unknown_fields=True, kw_only=True):
    """The same about the rows of a table, and how they are read and written."""

    text_columns: Annotated[str, Meta(max_length=1000)] = "text"
    id_column: Annotated[str, Meta(max_length=LONGEST_NAME)] = "id"
    label_column: Annotated[str, Meta(max_length=LONGEST_NAME)] = "labels"
    label_separator: Annotated[str, Meta(min_length=1, max_length=10)] = AUTO
    on_error: Literal["fail", "skip"] = "fail"

    def query(self) -> Query:
        """What is asked; labels near their cut are named, too."""
        return super().query()._replace(marks_doubt=True)

    def reading(self, limits: Limits) -> ReadOptions:
        """How the rows are read."""
        return ReadOptions(
            format="csv",
            text_columns=tuple(name for name in self.text_columns.split(",") if name),
            id_column=self.id_column,
            label_column=self.label_column,
            labels="ignored",
            label_separator=self.label_separator,
            on_error=self.on_error,
            keeps_cells=True,
            limits=limits,
        )


class PredictRequest(StreamParameters, kw_only=True):
    """Documents, and what is asked about them."""

    documents: Annotated[
        list[str | Document],
        Meta(min_length=1, max_length=MOST_DOCUMENTS, description="Texts, or documents with ids."),
    ]

    def texts(self) -> list[str]:
        """The documents without their ids."""
        return [d.text if isinstance(d, Document) else d for d in self.documents]


class OperatingPoint(msgspec.Struct, omit_defaults=True):
    """The operating point used, and what to expect there of new documents.

    Intervals hold nine of ten test sets of a third of the documents tuned on. `met` is there where
    the nearest point was asked for. Labels that cannot reach the precision asked of each are not
    assigned; the first of them are named.
    """

    name: str
    precision: float | None = None
    recall: float | None = None
    precision_interval: list[float] | None = None
    recall_interval: list[float] | None = None
    met: bool | None = None
    not_assigned: list[str] | None = None
    n_not_assigned: int | None = None


class PredictResponse(msgspec.Struct, omit_defaults=True):
    """Predictions in the order of the request, with the version that made them."""

    model: str
    version: str
    predictions: list[Prediction]
    operating_point: OperatingPoint | None = None


def components(*types: Any) -> dict[str, Any]:
    """The types' JSON schemas by name, for the OpenAPI document."""
    _, found = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return found
