"""Every error has one answer."""

import httpx
import pytest

from app import errors
from app.api.errors import STATUS

SLUGS = {
    "invalid-request": 422,
    "unattainable": 422,
    "bad-record": 422,
    "malformed-body": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "unknown-model": 404,
    "unknown-evaluation": 404,
    "unknown-upload": 404,
    "conflict": 409,
    "payload-too-large": 413,
    "unsupported-media-type": 415,
    "too-many-requests": 429,
    "model-unavailable": 503,
    "draining": 503,
    "overloaded": 503,
    "jobs-unavailable": 503,
    "storage-full": 507,
    "timeout": 504,
    "internal": 500,
}


def named() -> list[type[errors.AppError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [kind for kind in found if issubclass(kind, errors.AppError)]


def test_every_error_has_the_status_of_its_slug() -> None:
    assert set(STATUS) == set(named()) - {errors.AppError}
    assert {kind.code: STATUS[kind] for kind in STATUS} == SLUGS


def test_the_tree_in_the_error_file_names_every_error() -> None:
    assert errors.__doc__ is not None
    assert all(kind.__name__ in errors.__doc__ for kind in named())


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("top", "Object contains a field that is not known: top"),
        ("operating_points", "Object contains a field that is not known: operating_points"),
        ("Top", "Object contains a field that is not known"),
        ("a secret", "Object contains a field that is not known"),
        ("sk_12345", "Object contains a field that is not known"),
        ("x" * 31, "Object contains a field that is not known"),
        ("top`\n", "Object contains a field that is not known"),
    ],
)
async def test_an_unknown_field_is_named_where_its_name_is_a_short_word(
    client: httpx.AsyncClient, field: str, said: str
) -> None:
    answer = await client.post("/predict", json={"documents": ["a"], field: 1})
    assert (answer.status_code, answer.json()["detail"]) == (422, said)


@pytest.mark.anyio
async def test_unknown_paths_and_methods_are_problems_too(client: httpx.AsyncClient) -> None:
    answer = await client.get("/nothing/here")
    assert (answer.status_code, answer.json()["type"]) == (404, "about:blank")
    answer = await client.get("/predict")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert answer.headers["content-type"] == "application/problem+json"
