"""POST /predict: labels for texts. A thin route: bytes in, one plan, bytes out.

    ordinary way  read the body ─► request ─► predictions, maybe in a thread ─► answer ─► send
    at once                body ─► request ─► predictions ───────────────────► answer

Both ways share every step between; only waiting, and what takes a thread, differ.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from app.api.errors import invalid_body, send_problem
from app.api.http.bodies import read_body, refuse_encoded
from app.api.http.request_context import Headers, RequestContext, context_of
from app.api.identity import caller_with, identify, take_documents, take_request
from app.api.openapi import problems
from app.api.predictor import QUICK_BYTES, Predicted, Predictor, is_long
from app.api.revalidation import Revalidation
from app.api.schemas import Document, OperatingPoint, PredictRequest, PredictResponse
from app.api.streaming import NDJSON, Stream
from app.errors import AppError, UnsupportedMediaTypeError
from app.prediction.query import Query
from app.serving.admission import Deadline
from app.serving.identity import Identity
from app.serving.registry import Loaded
from app.serving.service import Service

PATH, SCOPE = "/predict", "predict"
JSON = b"application/json"


@dataclass(slots=True)
class Asked:
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
                if _media_type(context) == NDJSON:
                    await self._stream.answer(scope, receive, send, identity)
                else:
                    await self._answer(receive, send, context, identity)
        except AppError as error:
            if context.status:
                raise
            await send_problem(error, context.request_id, send)

    def at_once(self, context: RequestContext, body: bytes) -> tuple[Headers, bytes] | None:
        """Headers and body of the answer to a small request; None where that takes a while."""
        identity = self._identified(context)
        if _media_type(context) != JSON or len(body) > QUICK_BYTES or identity.limits is not None:
            return None
        asked = self._asked(self._decode(body), identity, context)
        predicted = self._predictor.at_once(asked.loaded, asked.query, asked.texts)
        if predicted is None or is_long(predicted.predictions, asked.query):
            return None
        self._predictor.count(asked.loaded, predicted)
        return self._written(asked, predicted, context)

    async def _answer(
        self, receive: Receive, send: Send, context: RequestContext, identity: Identity
    ) -> None:
        settings, predictor = self._service.settings, self._predictor
        deadline = Deadline.after(settings.request_seconds)
        with self._service.body_budget() as budget:
            body = await read_body(receive, context, settings.max_body_bytes, deadline, budget)
            request = await predictor.run(len(body) > QUICK_BYTES, self._decoded, body)
            asked = self._asked(request, identity, context)
            await take_documents(identity, len(asked.texts), context, self._service)
            predicted = await predictor.predictions(
                asked.loaded, asked.query, asked.texts, deadline
            )
            is_large = is_long(predicted.predictions, asked.query)
            headers, content = await predictor.run(
                is_large, self._written, asked, predicted, context
            )
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": content})

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

    def _asked(self, request: PredictRequest, identity: Identity, context: RequestContext) -> Asked:
        loaded = self._predictor.model(request.model, identity, context)
        return Asked(request, loaded, request.texts(), request.query())

    def _written(
        self, asked: Asked, predicted: Predicted, context: RequestContext
    ) -> tuple[Headers, bytes]:
        """Headers and body of the answer."""
        context.documents = len(asked.texts)
        content = self._encode(_response(asked, predicted))
        headers = (
            (b"content-type", JSON),
            (b"content-length", b"%d" % len(content)),
            (b"x-model-version", context.version.encode()),
            (b"x-documents", b"%d" % context.documents),
        )
        return headers, content


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
DOCUMENTED = {
    "requestBody": {
        "required": True,
        "description": "Also as a stream (application/x-ndjson): a text or a document a line, with "
        "the other fields in the query.",
        "content": {"application/json": _ref("PredictRequest")},
    },
    "responses": {
        "200": {
            "description": "One prediction a document, in the order of the request",
            "content": {"application/json": _ref("PredictResponse"), NDJSON.decode(): LINES},
        }
    },
}


def _response(asked: Asked, predicted: Predicted) -> PredictResponse:
    predictions, point = predicted.predictions, predicted.plan.point
    for prediction, document in zip(predictions, asked.request.documents, strict=True):
        if isinstance(document, Document):
            prediction.id = document.id
    model, reached = asked.loaded.model, None if point is None else OperatingPoint(**point)
    return PredictResponse(model.name, model.version, predictions, reached)


def _media_type(context: RequestContext) -> bytes:
    sent = context.head.media_type or JSON
    if sent not in (JSON, NDJSON):
        raise UnsupportedMediaTypeError("accepted: application/json, application/x-ndjson")
    refuse_encoded(context)
    return sent
