"""POST /predict: labels for texts. A thin route: bytes in, one plan, bytes out.

    ordinary way  read the body ─► request ─► predictions, maybe in a thread ─► answer ─► send
    at once                body ─► request ─► predictions ───────────────────► answer

Both ways share every step between; only waiting, and what takes a thread, differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from app.api.errors import invalid_body, send_problem
from app.api.http.bodies import read_body, refuse_encoded, refuse_workbook
from app.api.http.piecewise import send_in_pieces
from app.api.http.request_context import Headers, RequestContext, context_of
from app.api.identity import caller_with, identify, take_documents, take_request
from app.api.openapi import problems
from app.api.prediction_json import listed
from app.api.predictor import QUICK_BYTES, Asked, Predicted, Predictor
from app.api.revalidation import Revalidation
from app.api.schemas import Document, OperatingPoint, PredictRequest, PredictResponse
from app.api.streams import EXCHANGES
from app.api.streams.base import Exchange
from app.api.streams.ndjson import NDJSON, NdjsonExchange
from app.api.streams.stream import Stream
from app.catalogue import find
from app.errors import AppError, UnsupportedMediaTypeError
from app.prediction.answers import Prediction
from app.prediction.query import Query
from app.serving.admission import Deadline
from app.serving.identity import Identity
from app.serving.registry import Loaded
from app.serving.service import Service
from app.serving.unsent_answers import Pieces, joined
from app.settings import Settings

PATH, SCOPE = "/predict", "predict"
JSON = b"application/json"
ExchangeKind = Callable[[Scope, Predictor, Settings], Exchange]
STREAMED = {name.encode(): name for name in EXCHANGES}
"""Media types of streams."""
PREDICTIONS = b'"predictions":['
"""What stands before the predictions, and nowhere else in an answer without any."""


@dataclass(slots=True)
class PredictCall:
    """A request that was read: the documents, what is asked about them, and of which model."""

    request: PredictRequest
    loaded: Loaded
    texts: list[str]
    query: Query


class Predict:
    """The route's ASGI application."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._predictor = Predictor(service, PATH)
        self._stream = Stream(service, self._predictor)
        self._exchanges: dict[str, ExchangeKind] = {NDJSON.decode(): NdjsonExchange}
        self._decode = msgspec.json.Decoder(PredictRequest).decode
        self._encode = msgspec.json.Encoder().encode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or say what is wrong with it."""
        context = context_of(scope)
        try:
            identity = self._identified(context)
            await take_request(identity, context, self._service)
            self._predictor.refuse_early(context)
            with Revalidation(context, self._service, SCOPE):
                streamed = STREAMED.get(_media_type(context))
                if streamed is None:
                    await self._answer(receive, send, context, identity)
                else:
                    exchange = await self._exchange(scope, streamed)
                    await self._stream.answer(scope, receive, send, identity, exchange)
        except AppError as error:
            if context.status:
                raise
            await send_problem(error, context.request_id, send)

    def at_once(self, context: RequestContext, body: bytes) -> tuple[Headers, bytes] | None:
        """Headers and body of the answer to a small request; None where that takes a while."""
        identity = self._identified(context)
        if _media_type(context) != JSON or len(body) > QUICK_BYTES or identity.limits is not None:
            return None
        call = self._call(self._decode(body), identity, context)
        predicted = self._predictor.at_once(call.loaded, call.query, call.texts)
        if predicted is None:
            return None
        self._predictor.count(call.loaded, call.query, call.texts, predicted)
        return self._written(call, predicted, context)

    async def _answer(
        self, receive: Receive, send: Send, context: RequestContext, identity: Identity
    ) -> None:
        settings, predictor = self._service.settings, self._predictor
        deadline = Deadline.after(settings.request_seconds)
        with self._service.body_budget() as budget:
            body = await read_body(receive, context, settings.max_body_bytes, deadline, budget)
            request = await predictor.run(len(body) > QUICK_BYTES, self._decoded, body)
            call = self._call(request, identity, context)
            await take_documents(identity, len(call.texts), context, self._service)
            headers, pieces = await predictor.answer(
                Asked(call.loaded, call.query, deadline, receive),
                call.texts,
                partial(self._written_in_pieces, call, context),
            )
        del body, request, call  # from here on a slow reader holds its answer, and nothing else
        await send_in_pieces(send, headers, pieces, self._service)

    async def _exchange(self, scope: Scope, media_type: str) -> Exchange:
        """The form of a stream; one that few clients use is loaded on first use, by a thread."""
        if media_type not in self._exchanges:
            found = await self._predictor.in_thread(find, EXCHANGES, media_type, "media type")
            self._exchanges[media_type] = found
        kind = self._exchanges[media_type]
        return kind(scope, self._predictor, self._service.settings)

    def _identified(self, context: RequestContext) -> Identity:
        context.route = PATH
        identity = identify(context, self._service)
        identity.require(SCOPE)
        return identity

    def _decoded(self, body: bytes) -> PredictRequest:
        try:
            return self._decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise invalid_body(error) from None

    def _call(
        self, request: PredictRequest, identity: Identity, context: RequestContext
    ) -> PredictCall:
        loaded = self._predictor.model(request.model, identity, context)
        return PredictCall(request, loaded, request.texts(), request.query())

    def _written(
        self, call: PredictCall, predicted: Predicted, context: RequestContext
    ) -> tuple[Headers, bytes]:
        """Headers and body of the answer."""
        context.documents = len(call.texts)
        content = self._encode(_response(call, predicted, predicted.predictions))
        return _headers(len(content), context), content

    def _written_in_pieces(
        self, call: PredictCall, context: RequestContext, predicted: Predicted
    ) -> tuple[Headers, Pieces]:
        """The same for an answer of any size, whose predictions are gone afterwards."""
        context.documents = len(call.texts)
        shell = self._encode(_response(call, predicted, []))
        before, opening, after = shell.partition(PREDICTIONS)
        pieces = joined(chain((before, opening), listed(predicted.predictions), (after,)))
        return _headers(sum(map(len, pieces)), context), pieces


def add_to(app: FastAPI, service: Service) -> Predict:
    """Add the documented route; the thin application that answers it."""
    route = APIRoute(
        PATH,
        _documented,
        methods=["POST"],
        tags=["predict"],
        summary="Labels for texts",
        dependencies=[caller_with(SCOPE)],
        response_model=None,
        responses=problems(400, 401, 403, 404, 413, 415, 422, 429, 503, 504),
        openapi_extra=DOCUMENTED,
        name="predict",
        operation_id="predict",
    )
    route.app = Predict(service)
    app.router.routes.append(route)
    return route.app


async def _documented() -> None:
    """Labels for each document, by the model's own decision or the one asked for."""


def _ref(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


LINES = {
    "schema": {
        "type": "string",
        "description": "The answer to a stream: a prediction a line. A line that cannot be "
        "answered is an object with `line` and `error`.",
    }
}
TABLE = {
    "schema": {
        "type": "string",
        "description": "The answer to a table: its own columns, then `labels`, `probabilities`, "
        "`reasons`, `review`. A row that cannot be answered says why in `review`.",
    }
}
DOCUMENTED = {
    "requestBody": {
        "required": True,
        "description": "Also as a stream (application/x-ndjson): a text or a document a line, with "
        "the other fields in the query; or as a table (text/csv): a header and a document a row, "
        "with the other fields in the query, and with `text_columns` (`text`), `label_separator` "
        "(as in the training data, else `|`), `on_error` (`fail`, `skip`), `id_column`, "
        "`label_column`.",
        "content": {"application/json": _ref("PredictRequest")},
    },
    "responses": {
        "200": {
            "description": "One prediction a document, in the order of the request",
            "content": {
                "application/json": _ref("PredictResponse"),
                "application/x-ndjson": LINES,
                "text/csv": TABLE,
            },
        }
    },
}


def _headers(length: int, context: RequestContext) -> Headers:
    return (
        (b"content-type", JSON),
        (b"content-length", b"%d" % length),
        (b"x-model-version", context.version.encode()),
        (b"x-documents", b"%d" % context.documents),
    )


def _response(
    call: PredictCall, predicted: Predicted, predictions: list[Prediction]
) -> PredictResponse:
    """The answer with these predictions; ids are put into all of them in any case."""
    point = predicted.plan.point
    for prediction, document in zip(predicted.predictions, call.request.documents, strict=True):
        if isinstance(document, Document):
            prediction.id = document.id
    model, reached = call.loaded.model, None if point is None else OperatingPoint(**point)
    return PredictResponse(model.name, model.version, predictions, reached)


def _media_type(context: RequestContext) -> bytes:
    sent = context.head.media_type or JSON
    if sent != JSON and sent not in STREAMED:
        refuse_workbook(sent)
        accepted = ", ".join((JSON.decode(), *EXCHANGES))
        raise UnsupportedMediaTypeError(f"accepted: {accepted}")
    refuse_encoded(context)
    return sent
