"""What comes back for a document: the same objects for the API and the command line."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

Span: TypeAlias = Annotated[Sequence[int], Meta(min_length=2, max_length=2)]
"""Begin and end. No tuple: generators of clients do not read the schema of one."""


class Term(msgspec.Struct):
    """A term that raised or lowered a label, with its places in the text (code points)."""

    term: str
    weight: float
    at: Sequence[Span]


class Label(msgspec.Struct, omit_defaults=True):
    """One label of one document; `because`, `bias` and `rest` sum to the score.

    `approximate` is there, and true, where a network's terms are estimated by their gradients.
    """

    label: str
    score: float
    probability: float | None = None
    threshold: float | None = None
    because: list[Term] | None = None
    bias: float | None = None
    rest: float | None = None
    approximate: bool | None = None


class Prediction(msgspec.Struct, omit_defaults=True):
    """The labels of one document by falling score; `id` only where one was sent."""

    labels: list[Label]
    id: str | None = None
    abstained: list[str] | None = None
