"""POST /predict: labels for texts. A thin route: bytes in, one plan, bytes out."""

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from app.api.errors import invalid_body
from app.api.http.bodies import read_body
from app.api.http.request_context import RequestContext, context_of, head_lines
from app.api.identity import caller_with, identify
from app.api.openapi import problems
from app.api.predictor import QUICK_BYTES, Predictor, is_long
from app.api.schemas import Document, OperatingPoint, PredictRequest, PredictResponse
from app.api.streaming import NDJSON, Stream
from app.errors import UnsupportedMediaTypeError
from app.prediction.answers import Prediction
from app.prediction.plan import Plan
from app.serving.admission import BodyBudget, Deadline
from app.serving.keys import Identity
from app.serving.registry import Loaded
from app.serving.service import Service

PATH, SCOPE = "/predict", "predict"
JSON = b"application/json"
HEAD_NAMES = (b"content-type", b"content-length", b"x-model-version", b"x-documents")
HEAD = head_lines(HEAD_NAMES)


class Predict:
    """The route's ASGI application."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._predictor = Predictor(service, PATH)
        self._stream = Stream(service, self._predictor)
        self._decode = msgspec.json.Decoder(PredictRequest).decode
        self._encode = msgspec.json.Encoder().encode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        service, context = self._service, context_of(scope)
        identity = self._identified(context)
        self._predictor.refuse_early(context)
        if _media_type(context) == NDJSON:
            await self._stream.answer(scope, receive, send, identity)
            return
        with service.room() as room:
            await self._respond(receive, send, context, identity, room)

    def at_once(self, context: RequestContext, body: bytes) -> tuple[bytes, bytes] | None:
        """Head and body of the answer to a small request; None where that would take a while."""
        identity = self._identified(context)
        if _media_type(context) != JSON or len(body) > QUICK_BYTES:
            return None
        request = self._decode(body)
        loaded = self._predictor.model(request.model, identity, context)
        texts, query = request.texts(), request.query()
        found = self._predictor.at_once(loaded, query, texts)
        if found is None or is_long(found.predictions, query):
            return None
        self._predictor.note(loaded, found)
        context.documents = len(texts)
        answer = self._encode(_response(loaded, found.plan, found.predictions, request))
        return HEAD % _head_values(answer, context), answer

    def _identified(self, context: RequestContext) -> Identity:
        context.route = PATH
        identity = identify(context, self._service)
        identity.require(SCOPE)
        return identity

    async def _respond(
        self,
        receive: Receive,
        send: Send,
        context: RequestContext,
        identity: Identity,
        room: BodyBudget,
    ) -> None:
        settings = self._service.settings
        deadline = Deadline.after(settings.request_seconds)
        body = await read_body(receive, context, settings.max_body_bytes, deadline, room)
        predictor = self._predictor
        if len(body) > QUICK_BYTES:
            request = await predictor.in_thread(self._decoded, body)
        else:
            request = self._decoded(body)
        loaded = predictor.model(request.model, identity, context)
        texts, query = request.texts(), request.query()
        plan, found = await predictor.predictions(loaded, query, texts, deadline)
        context.documents = len(texts)
        response = _response(loaded, plan, found, request)
        if is_long(found, query):
            answer = await predictor.in_thread(self._encode, response)
        else:
            answer = self._encode(response)
        headers = list(zip(HEAD_NAMES, _head_values(answer, context), strict=True))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def _decoded(self, body: bytes) -> PredictRequest:
        try:
            return self._decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise invalid_body(error) from None


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
        "description": "A text or a document a line; what is asked about them stands in the query. "
        "A line that cannot be answered is an object with `line` and `error`.",
    }
}
DOCUMENTED = {
    "requestBody": {
        "required": True,
        "content": {"application/json": _ref("PredictRequest"), NDJSON.decode(): LINES},
    },
    "responses": {
        "200": {
            "description": "One prediction a document, in the order of the request",
            "content": {"application/json": _ref("PredictResponse"), NDJSON.decode(): LINES},
        }
    },
}


def _response(
    loaded: Loaded, plan: Plan, predictions: list[Prediction], request: PredictRequest
) -> PredictResponse:
    for prediction, document in zip(predictions, request.documents, strict=True):
        if isinstance(document, Document):
            prediction.id = document.id
    point = None if plan.point is None else OperatingPoint(**plan.point)
    return PredictResponse(loaded.model.name, loaded.model.version, predictions, point)


def _media_type(context: RequestContext) -> bytes:
    sent = context.head.media_type or JSON
    if sent not in (JSON, NDJSON):
        raise UnsupportedMediaTypeError("accepted: application/json, application/x-ndjson")
    if context.header(b"content-encoding").lower() not in (b"", b"identity"):
        raise UnsupportedMediaTypeError("the body is sent without a content encoding")
    return sent


def _head_values(body: bytes, context: RequestContext) -> tuple[bytes, ...]:
    return JSON, b"%d" % len(body), context.version.encode(), b"%d" % context.documents
