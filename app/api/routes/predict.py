"""POST /predict: labels for texts. A thin route: bytes in, one plan, bytes out."""

import asyncio
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from app.api.bodies import read_body
from app.api.errors import invalid_body
from app.api.identity import caller_with, identify
from app.api.schemas import Document, OperatingPoint, PredictRequest, PredictResponse
from app.api.visit import Visit, visit_of
from app.errors import PayloadTooLargeError, UnsupportedMediaTypeError
from app.prediction import Plan, Prediction
from app.serving.admission import Deadline
from app.serving.registry import Loaded
from app.serving.service import Service

PATH, SCOPE = "/predict", "predict"
JSON = b"application/json"
QUICK_BYTES, QUICK_DOCUMENTS = 16_384, 4
"""Up to here the answer costs less than handing it to a thread would."""


class Predict:
    """The route's ASGI application."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._decode = msgspec.json.Decoder(PredictRequest).decode
        self._encode = msgspec.json.Encoder().encode
        stages = service.telemetry.stages
        self._stages = {name: stages.labels(name) for name in ("decode", "predict", "encode")}
        self._counters: dict[str, tuple[Any, Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        service, visit = self._service, visit_of(scope)
        visit.route = PATH
        identity = identify(scope, service)
        identity.require(SCOPE)
        _check_media_type(visit)
        service.documents.refuse_if_full()
        deadline = Deadline.after(service.settings.request_seconds)
        body = await read_body(receive, visit, service.settings.max_body_bytes, deadline)
        is_small = len(body) <= QUICK_BYTES
        request = self._decoded(body) if is_small else await self._in_thread(self._decoded, body)
        if request.model is not None:
            identity.require_model(request.model.partition("@")[0])
        loaded = service.registry.get(request.model)
        identity.require_model(loaded.model.name)
        texts = self._texts(request)
        with service.documents.admit(len(texts)):
            is_quick = is_small and len(texts) <= QUICK_DOCUMENTS and loaded.is_quick
            if is_quick:
                answer = self._answer(loaded, request, texts, deadline)
            else:
                answer = await self._in_thread(self._answer, loaded, request, texts, deadline)
        visit.model, visit.version = loaded.model.name, loaded.model.version
        visit.documents = len(texts)
        await _send(send, answer, visit)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._service.threads, work, *arguments)

    def _decoded(self, body: bytes) -> PredictRequest:
        try:
            return self._decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise invalid_body(error) from None

    def _texts(self, request: PredictRequest) -> list[str]:
        most, longest = (
            self._service.settings.max_documents,
            self._service.settings.max_text_characters,
        )
        if len(request.documents) > most:
            raise PayloadTooLargeError(f"more than {most} documents in one request")
        texts = [d.text if isinstance(d, Document) else d for d in request.documents]
        if any(len(text) > longest for text in texts):
            raise PayloadTooLargeError(f"a text is longer than {longest} characters")
        return texts

    def _answer(
        self, loaded: Loaded, request: PredictRequest, texts: list[str], deadline: Deadline
    ) -> bytes:
        with self._stages["predict"].time():
            plan = loaded.plan(request.query())
            predictions = plan.predictions(texts, still_wanted=deadline.check)
        for prediction, document in zip(predictions, request.documents, strict=True):
            if isinstance(document, Document):
                prediction.id = document.id
        self._count(loaded.model.name, predictions)
        with self._stages["encode"].time():
            return self._encode(_response(loaded, plan, predictions))

    def _count(self, model: str, predictions: list[Prediction]) -> None:
        counters = self._counters.get(model)
        if counters is None:
            telemetry = self._service.telemetry
            counters = self._counters[model] = (
                telemetry.documents.labels(model, PATH),
                telemetry.labels_per_document.labels(model),
            )
        counters[0].inc(len(predictions))
        for prediction in predictions:
            counters[1].observe(len(prediction.labels))


def add_to(app: FastAPI, service: Service) -> None:
    """Add the documented route, answered by the thin application."""
    route = APIRoute(
        PATH,
        _documented,
        methods=["POST"],
        tags=["predict"],
        summary="Labels for texts",
        dependencies=[caller_with(SCOPE)],
        response_model=None,
        name="predict",
    )
    route.app = Predict(service)
    app.router.routes.insert(0, route)


async def _documented() -> None:
    """Labels for each document, by the model's own decision or the one asked for."""


def _response(loaded: Loaded, plan: Plan, predictions: list[Prediction]) -> PredictResponse:
    point = None if plan.point is None else OperatingPoint(**plan.point)
    return PredictResponse(loaded.model.name, loaded.model.version, predictions, point)


def _check_media_type(visit: Visit) -> None:
    sent = visit.header(b"content-type")
    if sent not in (JSON, b"") and sent.partition(b";")[0].strip().lower() != JSON:
        raise UnsupportedMediaTypeError("the body is sent as application/json")
    if visit.header(b"content-encoding").lower() not in (b"", b"identity"):
        raise UnsupportedMediaTypeError("the body is sent without a content encoding")


async def _send(send: Send, body: bytes, visit: Visit) -> None:
    headers = [
        (b"content-type", JSON),
        (b"content-length", b"%d" % len(body)),
        (b"x-model-version", visit.version.encode()),
        (b"x-documents", b"%d" % visit.documents),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
