"""Who may call what: generated from the OpenAPI document, so that no route is forgotten."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from app.serving.keys import KeysFile
from app.settings import SCOPES
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

OPEN = {"/health/live", "/health/ready", "/v2", "/v2/health/live", "/v2/health/ready"}
UNDOCUMENTED = {"/", "/web/{tree_hash}/{path:path}", "/docs", "/openapi.json"}
GRANTED = {scope: {scope} for scope in SCOPES} | {"admin": set(SCOPES)}


@pytest.fixture
def keys(tmp_path: Path) -> KeysFile:
    return KeysFile(tmp_path / "keys.json")


def operations(client: httpx.AsyncClient) -> list[tuple[str, str, set[str]]]:
    """(method, path, scopes) of everything the application offers."""
    app = client._transport.app  # type: ignore[attr-defined]
    document = app.openapi()
    return [
        (method, path, {s for entry in operation.get("security", []) for s in entry["key"]})
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


async def test_every_route_declares_a_scope_or_is_known_to_be_open(
    client: httpx.AsyncClient,
) -> None:
    declared = operations(client)
    assert {path for _, path, scopes in declared if not scopes} == OPEN
    assert all(len(scopes) == 1 and scopes <= set(SCOPES) for _, _, scopes in declared if scopes)
    app = client._transport.app  # type: ignore[attr-defined]
    from fastapi.routing import iter_route_contexts

    served = {context.path for context in iter_route_contexts(app.router.routes)}
    assert served == {path for _, path, _ in declared} | UNDOCUMENTED


async def test_every_operation_answers_each_key_as_declared(
    opened: Opened, keys: KeysFile, tmp_path: Path
) -> None:
    secrets = {scope: keys.create([scope])[1] for scope in SCOPES}
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        for method, path, needed in operations(client):
            url = path.format(
                name="tiny", version="20200101T000000-000000", id="0" * 32, sha256="0" * 64
            )
            for sent, scopes in [(None, set()), ("wrong", set()), *GRANTED.items()]:
                headers = {"authorization": f"Bearer {secrets.get(sent or '', sent)}"}
                answer = await client.request(method, url, headers=headers if sent else {})
                expected = 401 if not scopes else 403
                if not needed or needed & scopes:
                    assert answer.status_code not in (401, 403), (method, path, sent)
                else:
                    assert answer.status_code == expected, (method, path, sent)


async def test_the_document_and_the_page_are_open_and_can_be_switched_off(
    opened: Opened, tmp_path: Path
) -> None:
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        for path in ("/", "/docs", "/openapi.json", "/health/ready"):
            assert (await client.get(path)).status_code == 200
    async with opened(docs=False) as client:
        for path in ("/", "/docs", "/openapi.json"):
            assert (await client.get(path)).status_code == 404


async def test_a_key_limited_to_models_sees_no_others(
    opened: Opened, keys: KeysFile, tmp_path: Path
) -> None:
    _, secret = keys.create(["predict", "evaluate"], ["team-a-*"])
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        client.headers["authorization"] = f"Bearer {secret}"
        assert (await client.get("/models")).json()["models"] == []
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("GET", "/models/tiny", {}),
            ("GET", "/models/tiny/labels", {}),
            ("GET", "/v2/models/tiny", {}),
            ("POST", "/v2/models/tiny/infer", {"content": b"{}"}),
            ("POST", "/evaluate?model=tiny", {"files": {"file": b"a"}}),
            ("POST", "/predict", {"json": {"documents": ["a"], "model": "tiny"}}),
        ]
        for method, path, body in calls:
            assert (await client.request(method, path, **body)).status_code == 403, path
        for body, status in ({}, 422), ({"model": "team-a-x"}, 404):
            answer = await client.post("/predict", json={"documents": ["a"], **body})
            assert answer.status_code == status
            assert "tiny" not in answer.text


async def test_new_and_revoked_keys_work_without_a_restart(
    opened: Opened, keys: KeysFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.serving.keys.LOOK_AGAIN_SECONDS", 0)
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        key, secret = keys.create(["predict"])
        headers = {"authorization": f"bearer {secret}"}
        assert (await client.get("/models", headers=headers)).status_code == 200
        keys.revoke(key.id)
        assert (await client.get("/models", headers=headers)).status_code == 401
        (tmp_path / "keys.json").write_text("damaged")
        assert (await client.get("/models", headers=headers)).status_code == 401


async def test_a_trusted_gateway_names_the_user_and_their_groups(opened: Opened) -> None:
    gateway = {"auth": "proxy", "trusted_proxies": ("127.0.0.0/8",)}
    user = {"x-forwarded-user": "ada", "x-forwarded-groups": "staff, labelserve-predict"}
    async with opened(**gateway) as client:
        assert (await client.get("/models", headers=user)).status_code == 200
        assert (await client.get("/metrics", headers=user)).status_code == 403
        assert (await client.get("/models")).status_code == 401
    async with opened(**{**gateway, "trusted_proxies": ("10.0.0.0/8",)}) as client:
        assert (await client.get("/models", headers=user)).status_code == 401


@pytest.mark.parametrize(
    ("address", "network", "is_trusted"),
    [
        ("::ffff:10.0.0.1", "10.0.0.0/8", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "::ffff:10.0.0.0/104", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.0/104", True),
        ("::ffff:10.0.0.1", "::ffff:0:0/96", True),
        ("::ffff:10.0.0.1", "::/0", True),
        ("::ffff:11.0.0.1", "10.0.0.0/8", False),
        ("11.0.0.1", "::ffff:10.0.0.0/104", False),
        ("10.0.0.1", "::/0", False),
        ("::10.0.0.1", "10.0.0.0/8", False),
        ("fd00::1", "fd00::/8", True),
        ("not an address", "10.0.0.0/8", False),
    ],
)
async def test_an_address_of_ipv4_is_the_same_however_it_is_written(
    opened: Opened, address: str, network: str, is_trusted: bool
) -> None:
    user = {"x-forwarded-user": "ada", "x-forwarded-groups": "labelserve-predict"}
    async with opened(auth="proxy", trusted_proxies=(network,)) as client:
        client._transport.client = (address, 1)  # type: ignore[attr-defined]
        answer = await client.get("/models", headers=user)
    assert answer.status_code == (200 if is_trusted else 401)
