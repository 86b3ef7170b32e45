"""What comes back for a document: the same objects for the API and the command line.

None of them refers back to what holds it, so the garbage collector need not look through them
(`gc=False`): there may be a million in one answer.
"""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

Span: TypeAlias = Annotated[Sequence[int], Meta(min_length=2, max_length=2)]
"""Begin and end. No tuple: generators of clients do not read the schema of one."""


class LabelReason(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """What raised or lowered a label: a term, a neighbour or a rule.

    A term has its places in the text (`at`, code points); a neighbour is the id of a training
    document.
    """

    term: str | None = None
    neighbour: str | None = None
    rule: str | None = None
    weight: float
    at: Sequence[Span] | None = None


class Ancestor(msgspec.Struct, omit_defaults=True, gc=False):
    """A label above another in the labels file, with its name where it has one."""

    label: str
    name: str | None = None


class Label(msgspec.Struct, omit_defaults=True, gc=False):
    """One label of one document; `because`, `bias` and `rest` sum to the score.

    `name` is there where the model knows one; `ancestors`, the parent first, where they were asked
    for. `approximate` is there, and true, where a network's terms are estimated by their gradients.
    A label that a hand-written rule assigned has no threshold, and null as its score where the
    model gives it none. `threshold_probability` is there where labels below their cut were asked
    for.
    """

    label: str
    score: float | None
    probability: float | None = None
    threshold: float | None = None
    name: str | None = None
    ancestors: list[Ancestor] | None = None
    because: list[LabelReason] | None = None
    bias: float | None = None
    rest: float | None = None
    approximate: bool | None = None
    threshold_probability: float | None = None


class Prediction(msgspec.Struct, omit_defaults=True, gc=False):
    """The labels of one document by falling score; `id` only where one was sent.

    `below_cut` has the best of those that were not assigned, where they were asked for. One that is
    never assigned, whatever its score, has no threshold.
    """

    labels: list[Label]
    id: str | None = None
    abstained: list[str] | None = None
    below_cut: list[Label] | None = None
