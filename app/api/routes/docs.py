"""GET /docs: the API on one page without scripts, made from its own OpenAPI document."""

import base64
import hashlib
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

router = APIRouter(include_in_schema=False)

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886 }
code { background: #8882; padding: 0 .2em }
summary { cursor: pointer; padding: .4rem 0 } details details { margin-left: 1.5rem }
table { border-collapse: collapse; margin: .5rem 0 } td { padding: .1rem .8rem .1rem 0;
vertical-align: top } pre { background: #8882; padding: .6rem; overflow-x: auto }
"""
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'self'; style-src 'sha256-{_HASH}'; frame-ancestors 'none'; base-uri 'none'"
HEADERS = {"content-security-policy": POLICY, "referrer-policy": "no-referrer"}


@router.get("/")
async def root(request: Request) -> Response:
    """To the documentation."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}/docs")


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The page."""
    return HTMLResponse(page(request.app.openapi()), headers=HEADERS)


def page(document: dict[str, Any]) -> str:
    """The document as HTML."""
    operations = [
        _operation(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = "".join(_schema(n, s) for n, s in sorted(document["components"]["schemas"].items()))
    title = escape(document["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
        f'<h1>{title}</h1><p>Machine-readable: <a href="openapi.json">openapi.json</a>.</p>'
        f"<h2>Operations</h2>{''.join(operations)}<h2>Schemas</h2>{schemas}</html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    scopes = [scope for entry in operation.get("security", []) for scope in entry["key"]]
    needs = f" · scope {escape(', '.join(scopes))}" if scopes else " · open"
    answers = ", ".join(sorted(operation["responses"]))
    body = _request_body(operation.get("requestBody", {}))
    return (
        f"<details><summary><code>{method.upper()} {escape(path)}</code> "
        f"{escape(operation.get('summary', ''))}{needs}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p>"
        f"{_parameters(operation.get('parameters', []))}{body}<p>Answers: {answers}</p></details>"
    )


def _request_body(body: dict[str, Any]) -> str:
    said = f"<p>{escape(body['description'])}</p>" if "description" in body else ""
    return "".join(_body(*item) for item in body.get("content", {}).items()) + said


def _body(media_type: str, content: dict[str, Any]) -> str:
    return f"<p>Body: <code>{escape(media_type)}</code> {_type(content['schema'])}</p>"


def _parameters(parameters: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(p['name'])}</code><td>{p['in']}<td>{_type(p['schema'])}"
        f"<td>{escape(p.get('description', ''))}"
        for p in parameters
    )
    return f"<table>{rows}</table>" if rows else ""


def _schema(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{' *' if field in required else ''}"
        f"<td>{_type(of)}<td>{escape(of.get('description', ''))}"
        for field, of in schema.get("properties", {}).items()
    )
    return (
        f'<details id="{escape(name)}"><summary>{escape(name)}</summary>'
        f"<p>{escape(schema.get('description', ''))}</p><table>{rows}</table></details>"
    )


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything"
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        inner = schema.get("prefixItems") or [schema.get("items", {})]
        return f"list of {', '.join(map(_type, inner))}"
    if "enum" in schema:
        return " or ".join(escape(str(value)) for value in schema["enum"])
    return escape(str(schema.get("type", "anything")))
