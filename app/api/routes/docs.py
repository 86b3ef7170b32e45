"""GET /docs: the page, which begins with the API there, to be tried operation by operation."""

import asyncio

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.routes.page import REVALIDATED, answer
from app.api.web_files import web_files

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The page; it is made from `/openapi.json` in the browser."""
    tree = await asyncio.to_thread(web_files)
    return answer(request, tree.index, tree.hash, REVALIDATED)
