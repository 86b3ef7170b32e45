"""What a stream may look like: documents out of a body, an answer out of their predictions."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Scope

from app.api.errors import invalid_body
from app.api.http.request_context import RequestContext
from app.api.schemas import StreamParameters
from app.errors import AppError, InvalidRequestError
from app.prediction.answers import Prediction
from app.serving.registry import Loaded

Sent = TypeVar("Sent", bound=StreamParameters)
Item = Any
"""One document of a body, or what is wrong with it, as its exchange keeps it."""


class Exchange(Protocol):
    """One request's body and answer in one form; one file of this folder a form."""

    content_type: bytes
    waits_for_documents: bool
    """Whether the answer begins only when the first documents are read, which may be refused."""

    @property
    def parameters(self) -> StreamParameters:
        """What the query names: the model, and what is asked about the documents."""
        ...

    def prepare(self, loaded: Loaded) -> None:
        """Refuse what this model cannot answer in this form."""
        ...

    def count(self, body: bytes) -> int:
        """How many documents a whole body has; an error where it is refused as a whole."""
        ...

    def feed(self, piece: bytes, *, is_last: bool) -> list[Item]:
        """The documents that are complete with the next piece of the body."""
        ...

    def refuse(self, first: list[Item]) -> None:
        """Raise what is wrong with the first documents, while the answer has not begun."""
        ...

    def text(self, item: Item) -> str | AppError:
        """The text to predict labels for, or why there is none."""
        ...

    def opening(self) -> bytes:
        """How the answer begins."""
        ...

    def written(
        self, item: Item, outcome: Prediction | AppError, context: RequestContext
    ) -> Iterator[bytes]:
        """What the answer says of one document, in parts."""
        ...


def sent_parameters(scope: Scope, kind: type[Sent]) -> Sent:
    """What the query says beside the body."""
    try:
        query = scope["query_string"].decode("latin-1")
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise InvalidRequestError("the query has more than 1000 fields") from None
    values: dict[str, Any] = dict(pairs)
    if "labels" in values:
        values["labels"] = [value for name, value in pairs if name == "labels"]
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise invalid_body(error) from None
