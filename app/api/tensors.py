"""Tensors of the Open Inference Protocol: JSON, or the binary form that its clients prefer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from app.api.errors import invalid_body
from app.api.prediction_json import written
from app.api.schemas import QueryParameters
from app.errors import InvalidRequestError
from app.prediction.answers import Prediction
from app.prediction.query import Query
from app.serving.unsent_answers import Pieces, joined

DATA = b'"data":['
"""What stands before an output's data, and nowhere else in an answer without any."""
PREFIX = 4
"""Bytes before each element of a binary BYTES tensor: its length, little-endian."""


class InputParameters(msgspec.Struct, omit_defaults=True):
    """How an input was sent."""

    binary_data_size: Annotated[int, Meta(ge=0)] | None = None


class Input(msgspec.Struct, omit_defaults=True):
    """One tensor that was sent: texts, as strings here or as bytes after the JSON."""

    name: Literal["text"]
    shape: Annotated[list[Annotated[int, Meta(ge=1)]], Meta(min_length=1, max_length=2)]
    datatype: Literal["BYTES"]
    parameters: InputParameters = msgspec.field(default_factory=InputParameters)
    data: Any = None


class OutputParameters(msgspec.Struct, omit_defaults=True):
    """How an output is wanted."""

    binary_data: bool = False


class Output(msgspec.Struct, omit_defaults=True):
    """One tensor that is wanted."""

    name: Literal["predictions"]
    parameters: OutputParameters = msgspec.field(default_factory=OutputParameters)


class CallParameters(QueryParameters, kw_only=True):
    """What POST /predict calls by the same names, and how outputs are wanted."""

    binary_data_output: bool = False


class Call(msgspec.Struct, omit_defaults=True):
    """The body of an inference request: one BYTES tensor `text`."""

    INPUT: ClassVar[str] = "text"
    OUTPUT: ClassVar[str] = "predictions"

    inputs: Annotated[list[Input], Meta(min_length=1, max_length=1)]
    id: Annotated[str, Meta(max_length=1000)] | None = None
    parameters: CallParameters = msgspec.field(default_factory=CallParameters)
    outputs: Annotated[list[Output], Meta(max_length=1)] | None = None

    def query(self) -> Query:
        """What is asked about the documents."""
        return self.parameters.query()

    @property
    def wants_binary(self) -> bool:
        """Whether the output is wanted as bytes after the JSON."""
        if self.outputs:
            return self.outputs[0].parameters.binary_data
        return self.parameters.binary_data_output


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back; `header_length` where bytes follow the JSON."""

    pieces: Pieces
    media_type: str = "application/json"
    header_length: int | None = None


def called(body: bytes, header_length: bytes) -> tuple[Call, list[str]]:
    """The call and its texts."""
    end = int(header_length[:20]) if header_length.isdigit() else len(body)
    try:
        call = msgspec.json.decode(body[:end], type=Call)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise invalid_body(error) from None
    given = call.inputs[0]
    size = given.parameters.binary_data_size
    texts = _of_json(given.data) if size is None else _of_bytes(body[end:], size)
    if given.shape not in ([len(texts)], [len(texts), 1]):
        raise InvalidRequestError("the input's shape is [N] or [N, 1], with N texts")
    return call, texts


def answered(call: Call, predictions: list[Prediction], model: str, version: str) -> Answer:
    """The predictions, each a JSON object in one element of a BYTES tensor; gone afterwards."""
    output: dict[str, Any] = {"name": Call.OUTPUT, "datatype": "BYTES", "shape": [len(predictions)]}
    head: dict[str, Any] = {"model_name": model, "model_version": version, "outputs": [output]}
    if call.id is not None:
        head["id"] = call.id
    if not call.wants_binary:
        output["data"] = []
        before, opening, after = msgspec.json.encode(head).partition(DATA)
        return Answer(joined(chain((before, opening), _strings(predictions), (after,))))
    packed = joined(_elements(predictions))
    output["parameters"] = {"binary_data_size": sum(map(len, packed))}
    encoded = msgspec.json.encode(head)
    packed.appendleft(encoded)
    return Answer(packed, "application/octet-stream", len(encoded))


def _strings(predictions: Iterable[Prediction]) -> Iterator[bytes]:
    """The predictions as JSON strings of JSON, in parts."""
    separator = b'"'
    for prediction in predictions:
        yield separator
        for part in written(prediction):
            yield msgspec.json.encode(part.decode())[1:-1]
        yield b'"'
        separator = b',"'


def _elements(predictions: Iterable[Prediction]) -> Iterator[bytes]:
    """The predictions as elements of a binary tensor, in parts."""
    for prediction in predictions:
        parts = list(written(prediction))
        yield sum(map(len, parts)).to_bytes(PREFIX, "little")
        yield from parts


def _of_json(data: Any) -> list[str]:
    """Strings, in one list or in rows of one or more."""
    rows = data if isinstance(data, list) else [None]
    flat: list[Any] = [text for row in rows for text in (row if isinstance(row, list) else [row])]
    if not all(isinstance(text, str) for text in flat):
        raise InvalidRequestError("the input's data are strings")
    return flat


def _of_bytes(packed: bytes, size: int) -> list[str]:
    texts, start = [], 0
    if size != len(packed):
        raise InvalidRequestError("the binary data are not as long as the header says")
    while start < size:
        begin = start + PREFIX
        end = begin + int.from_bytes(packed[start:begin], "little")
        if end > size:
            raise InvalidRequestError("an element is longer than the binary data")
        texts.append(_text(packed[begin:end]))
        start = end
    return texts


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequestError("a text is not UTF-8") from None
