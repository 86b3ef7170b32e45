"""GET /: the page, and below /web the files that it is made of."""

import asyncio

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from app.api.web_files import WebFile, web_files

router = APIRouter(include_in_schema=False)

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {"content-security-policy": POLICY, "referrer-policy": "no-referrer"}
REVALIDATED = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"


@router.get("/")
async def page(request: Request) -> Response:
    """The page; browsers ask each time whether it has changed."""
    tree = await asyncio.to_thread(web_files)
    return answer(request, tree.index, tree.hash, REVALIDATED)


@router.get("/web/{tree_hash}/{path:path}")
async def file(tree_hash: str, path: str, request: Request) -> Response:
    """A file of the page, which never changes under its hash."""
    tree = await asyncio.to_thread(web_files)
    found = tree.files.get(path) if tree_hash == tree.hash else None
    if found is None:
        raise HTTPException(404)
    return answer(request, found, tree.hash, IMMUTABLE)


def answer(request: Request, file: WebFile, tree_hash: str, caching: str) -> Response:
    """The file, compressed for whoever takes that; 304 where the client has it already."""
    is_zipped = takes_gzip(request.headers.get("accept-encoding", ""))
    tag = f'"{tree_hash}{"-gzip" if is_zipped else ""}"'
    headers = {**HEADERS, "etag": tag, "cache-control": caching, "vary": "accept-encoding"}
    if tag in request.headers.get("if-none-match", ""):  # of several, or weakened by a gateway
        return Response(status_code=304, headers=headers)
    if is_zipped:
        headers["content-encoding"] = "gzip"
    content = file.gzipped if is_zipped else file.plain
    return Response(content, headers=headers, media_type=file.media_type)


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding names gzip, and not in order to refuse it.

    >>> takes_gzip("br, gzip;q=0.5"), takes_gzip("gzip;q=0, br"), takes_gzip("")
    (True, False, False)
    """
    for part in accepted.lower().replace(" ", "").split(","):
        name, _, quality = part.partition(";q=")
        if name == "gzip":
            return not quality or bool(quality.strip("0."))
    return False
