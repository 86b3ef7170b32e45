"""Revalidation: a long request asks again who calls, and ends when its key counts no longer."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from app.api.http.request_context import RequestContext
from app.api.identity import identify
from app.errors import AppError, UnauthorizedError
from app.serving.service import Service

SECONDS = 2.0


class Revalidation:
    """Ends the block with the error that its caller would get if the request began now.

    A key that was revoked, has expired, or has lost the scope or the model ends what it has begun.
    Only keys can: a gateway has said for the whole request who calls.
    """

    def __init__(
        self, context: RequestContext, service: Service, scope: str, models: Sequence[str] = ()
    ) -> None:
        self._context, self._service, self._scope = context, service, scope
        self._models = models
        self._timer: asyncio.TimerHandle | None = None
        self._error: AppError | None = None

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        if self._service.keys is not None:
            self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._error is not None and kind is asyncio.CancelledError and self._task is not None:
            self._task.uncancel()
            raise self._error from None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SECONDS, self._look)

    def _look(self) -> None:
        try:
            self._check()
        except AppError as error:
            self._error = error
            if self._task is not None:
                self._task.cancel()
        else:
            self._wait()

    def _check(self) -> None:
        context = self._context
        try:
            caller = identify(context, self._service)
        except UnauthorizedError:
            context.refused_by_key = context.refused_by_key or "revoked"
            raise
        caller.require(self._scope)
        for model in self._models or filter(None, (context.model,)):
            caller.require_model(model)
