"""Bodies sent to do harm: no server error, nothing echoed, nothing logged."""

import json
from io import BytesIO

import httpx
import pytest

pytestmark = pytest.mark.anyio

SECRET = "squeamish ossifrage"  # noqa: S105


def body(text: bytes, **more: bytes) -> bytes:
    fields = b"".join(b',"%s":%s' % (name.encode(), value) for name, value in more.items())
    return b'{"documents":[%s]%s}' % (text, fields)


HIDDEN = json.dumps(SECRET).encode()
HOSTILE = {
    "nothing": b"",
    "spaces": b"   ",
    "null": b"null",
    "a number": b"7",
    "a list": b"[]",
    "a string": HIDDEN,
    "not JSON": SECRET.encode(),
    "cut short": b'{"documents":["' + SECRET.encode(),
    "trailing words": body(HIDDEN) + SECRET.encode(),
    "two objects": body(HIDDEN) * 2,
    "byte order mark": b"\xef\xbb\xbf" + body(HIDDEN),
    "UTF-16": body(HIDDEN).decode().encode("utf-16"),
    "bad UTF-8": body(b'"' + SECRET.encode() + b'\xff\xfe"'),
    "overlong UTF-8": body(b'"\xc0\xaf"'),
    "surrogate in UTF-8": body(b'"\xed\xa0\x80"'),
    "lone high surrogate": body(b'"\\ud800"'),
    "lone low surrogate": body(b'"x \\udc00 y"'),
    "surrogates in wrong order": body(b'"\\udc00\\ud800"'),
    "high surrogate before a letter": body(b'"\\ud800a"'),
    "high surrogate twice": body(b'"\\ud800\\ud800"'),
    "surrogate in an id": body(b'{"text":"a","id":"\\udfff"}'),
    "surrogate in a label": body(b'"a"', labels=b'["\\ud800x"]'),
    "surrogate in the model": body(b'"a"', model=b'"\\ud800x"'),
    "NaN": body(HIDDEN, threshold=b"NaN"),
    "Infinity": body(HIDDEN, threshold=b"Infinity"),
    "minus Infinity": body(HIDDEN, threshold=b"-Infinity"),
    "1e400": body(HIDDEN, threshold=b"1e400"),
    "minus 1e400": body(HIDDEN, threshold=b"-1e400"),
    "5,000 digits": body(HIDDEN, top_k=b"9" * 5000),
    "5,000 digits of a fraction": body(HIDDEN, threshold=b"0." + b"9" * 5000),
    "5,000 digits of an exponent": body(HIDDEN, threshold=b"1e" + b"9" * 5000),
    "2^63": body(HIDDEN, top_k=b"9223372036854775808"),
    "a negative k": body(HIDDEN, top_k=b"-1"),
    "a fraction as k": body(HIDDEN, top_k=b"1.5"),
    "bool as int": body(HIDDEN, top_k=b"true"),
    "bool as text": body(b"true"),
    "int as text": body(b"7"),
    "text as list": b'{"documents":' + HIDDEN + b"}",
    "100k nested lists": b"[" * 100_000,
    "100k nested lists in documents": b'{"documents":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100k nested objects": b'{"documents":' * 100_000,
    "100k nested in an unknown field": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "duplicate keys": b'{"documents":["a"],"documents":["b"]}',
    "unknown key": body(HIDDEN, **{SECRET: b"1"}),
    "10,000 unknown keys": body(HIDDEN, **{f"{SECRET} {number}": b"1" for number in range(10_000)}),
    "key of a megabyte": body(HIDDEN, **{SECRET * 50_000: b"1"}),
    "__proto__": body(HIDDEN, __proto__=b'{"a":1}'),
    "NUL": body(b'"a\\u0000b"'),
    "raw NUL": body(b'"a\x00b"'),
    "control characters": body(b'"\x01\x02"'),
    "right-to-left and ANSI": body('"\u202e gnp.exe \\u001b[31m red"'.encode()),
    "every plane": body('"\U0010ffff\U0001f600\u00e9\u4e2d"'.encode()),
    "combining marks": body(('"a' + "\u0301" * 20_000 + '"').encode()),
    "an id as number": body(b'{"text":"a","id":7}'),
    "a very long id": body(b'{"text":"a","id":"' + SECRET.encode() * 1000 + b'"}'),
    "a very long model": body(b'"a"', model=b'"' + SECRET.encode() * 1000 + b'"'),
    "path as model": body(b'"a"', model=b'"../../etc/passwd"'),
    "a pattern as operating point": body(b'"a"', operating_point=b'"((((((((((a+)+)+)+$"'),
    "20,000 labels": body(b'"a"', labels=b"[" + b",".join([HIDDEN] * 20_000) + b"]"),
    "5,000 documents": body(b",".join([HIDDEN] * 5000)),
    "9 MB string": body(b'"' + b"x" * 9_000_000 + b'"'),
}


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
async def test_hostile_bodies_do_no_harm(
    client: httpx.AsyncClient, log: BytesIO, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name, content in HOSTILE.items():
        answer = await client.post("/predict", content=content, headers={"content-type": kind})
        assert answer.status_code < 500, name
        if answer.status_code >= 400:
            assert len(answer.content) <= 8192, name
            assert answer.headers["content-type"] == "application/problem+json", name
        assert SECRET not in answer.text, name
        json.dumps(answer.text)
    logged = log.getvalue().decode() + caplog.text
    assert SECRET not in logged
    assert "Traceback" not in logged
    health = await client.get("/health/ready")
    assert health.status_code == 200


async def test_hostile_bodies_do_no_harm_to_the_inference_protocol(
    client: httpx.AsyncClient,
) -> None:
    for name, content in HOSTILE.items():
        answer = await client.post("/v2/models/tiny/infer", content=content)
        assert 400 <= answer.status_code < 500, name
        assert len(answer.content) <= 8192, name
        assert set(answer.json()) == {"error"}, name
        assert SECRET not in answer.text, name


async def test_words_where_others_are_accepted_do_not_come_back(client: httpx.AsyncClient) -> None:
    fine = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}
    for name in ("name", "datatype"):
        for words in (SECRET, f"a\n - at `$ {SECRET}"):
            content = {"inputs": [{**fine, name: words}]}
            answer = await client.post("/v2/models/tiny/infer", json=content)
            assert answer.status_code == 422
            assert SECRET not in answer.text
    lines = {"content-type": "application/x-ndjson"}
    for path in ("/evaluate", "/predict"):
        answer = await client.post(path, params={SECRET: "1"}, content=b'"a"', headers=lines)
        assert answer.status_code == 422
        assert "squeamish" not in answer.text
