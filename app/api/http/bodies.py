"""Bodies read within their bounds: bytes and time."""

import asyncio
from time import monotonic

from starlette.types import Message, Receive

from app.api.http.request_context import RequestContext
from app.errors import DeadlineError, PayloadTooLargeError, UnsupportedMediaTypeError
from app.serving.admission import SMALL_BODY, BodyBudget, Deadline

LATE = "too late"
WORKBOOKS = (
    b"application/vnd.openxmlformats-officedocument",
    b"application/vnd.ms-excel",
    b"PK\x03\x04",
)
SLOWEST = 1000
"""Bytes a second that keep a long body going."""


class ClientLeftError(Exception):
    """The client closed its connection before its request had ended: nobody to answer."""


async def read_body(
    receive: Receive, context: RequestContext, limit: int, deadline: Deadline, budget: BodyBudget
) -> bytes:
    """The whole body; PayloadTooLargeError as soon as it is known to be too long.

    The budget is charged what the header says; without one, all that is allowed, once the body
    turns out not to be small.
    """
    said = context.header(b"content-length")
    is_budgeted = said.isdigit()
    if is_budgeted:
        expected = int(said[:20])
        if expected > limit:
            raise PayloadTooLargeError("the body", limit, "bytes")
        budget.take(expected)
    pieces, size, more = [], 0, True
    while more:
        message = await next_message(receive, deadline)
        more = message.get("more_body", False)
        pieces.append(message["body"])
        size += len(pieces[-1])
        if size > limit:
            raise PayloadTooLargeError("the body", limit, "bytes")
        if size > SMALL_BODY and not is_budgeted:
            budget.take(limit)
            is_budgeted = True
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def next_message(receive: Receive, deadline: Deadline) -> Message:
    """The next piece of a body, within the time there is."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101
    # As asyncio.timeout does it, for a third of its time: this stands in every request's way.
    timer = asyncio.get_running_loop().call_later(deadline.remaining, task.cancel, LATE)
    try:
        message = await receive()
    except asyncio.CancelledError as cancelled:
        if cancelled.args != (LATE,):
            raise
        task.uncancel()
        raise DeadlineError("the body did not arrive in the time allowed") from None
    finally:
        timer.cancel()
    if message["type"] == "http.disconnect":
        raise ClientLeftError
    return message


def with_minimum_rate(receive: Receive, patience: float) -> Receive:
    """The same pieces of a long body; a sender below the minimum rate is cut off.

    Every byte earns time to wait for the next, at `SLOWEST` bytes a second, and `patience` seconds
    are given on top: nobody holds a place among the uploads by a byte now and then.
    """
    left = patience

    async def next_piece() -> Message:
        nonlocal left
        start = monotonic()
        message = await next_message(receive, Deadline.after(left))
        earned = len(message["body"]) / SLOWEST
        left = min(patience, left - (monotonic() - start) + earned)
        return message

    return next_piece


def refuse_encoded(context: RequestContext) -> None:
    """UnsupportedMediaTypeError for a body with a content encoding, where none is taken."""
    if context.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
        raise UnsupportedMediaTypeError("the body is sent without a content encoding")


def refuse_workbook(begins: bytes) -> None:
    """UnsupportedMediaTypeError for an Excel workbook, by its media type or its first bytes."""
    if begins.startswith(WORKBOOKS):
        raise UnsupportedMediaTypeError(
            "Excel workbooks are not read here: save as CSV UTF-8, and send that as text/csv"
        )


def check_length(context: RequestContext, limit: int, *, overhead: int = 0) -> None:
    """Refuse a body whose own header says it is too long; `overhead` encloses its content."""
    said = context.header(b"content-length")
    if said.isdigit() and int(said[:20]) > limit + overhead:
        raise PayloadTooLargeError("the body", limit, "bytes")


async def client_gone(receive: Receive) -> None:
    """Wait until the client has left, then raise ClientLeftError."""
    while (await receive())["type"] != "http.disconnect":
        continue
    raise ClientLeftError
