"""Client and AsyncClient against a real server that has keys and a path before its own."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

import labelserve
from app.serving.keys import KeysFile
from labelserve.client.batches import MOST_TEXTS
from labelserve.client.errors import (
    AccessError,
    BadRequestError,
    UnknownEvaluationError,
    UnknownModelError,
)
from tests.conftest import write_corpus
from tests.reliability.servers import start

LONGEST = 2000
EMPTY = (None, (), [], 0, False)
QUESTIONS: list[Any] = [
    {},
    {"top_k": 3},
    {"operating_point": "recall>=0.5", "top_k": 2},
    {"operating_point": "precision>=1", "nearest": True},
    {"threshold": -0.5, "labels": ["billing", "login"]},
    {"min_probability": 0.2, "explain": 3},
]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    file = write_corpus(tmp_path_factory.mktemp("data") / "test.jsonl", 40, seed=5)
    return [*labelserve.read(file).texts, "", "Ünïcödé\n\u2028 invoice \U0001f4e6"]


@pytest.fixture(scope="module")
def address(
    tmp_path_factory: pytest.TempPathFactory, tiny_models: Path
) -> Iterator[tuple[str, str]]:
    """The address of a service, and a key."""
    folder = tmp_path_factory.mktemp("service")
    _, key = KeysFile(folder / "keys.json").create(["predict", "evaluate"], [])
    settings = {
        "models_dir": tiny_models,
        "api_keys_file": folder / "keys.json",
        "root_path": "/labels",
        "max_text_characters": LONGEST,
    }
    server = start(folder, **settings)
    yield f"{server.url}/labels", key
    server.stop()


@pytest.fixture(scope="module")
def client(address: tuple[str, str]) -> Iterator[labelserve.Client]:
    with labelserve.Client(*address) as client:
        yield client


@pytest.fixture(scope="module")
def model(tiny_models: Path) -> labelserve.LabelModel:
    return labelserve.load(tiny_models, "tiny")


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_library_clients_and_the_service_itself_answer_alike(
    client: labelserve.Client,
    model: labelserve.LabelModel,
    address: tuple[str, str],
    texts: list[str],
    asked: Any,
) -> None:
    url, key = address
    answer = httpx.post(
        f"{url}/predict",
        json={"documents": texts, **asked},
        headers={"authorization": f"Bearer {key}"},
    ).json()
    found = model.predict(texts, **asked)
    assert found == client.predict(texts, **asked)
    assert found == asyncio.run(_predicted(address, texts, asked))
    assert [_plain(asdict(one)) for one in found] == [
        _plain({"scores": one["labels"], "abstained": one.get("abstained")})
        for one in answer["predictions"]
    ]
    if "operating_point" in answer:
        point = model.expected(asked.get("operating_point", "tuned"), nearest="nearest" in asked)
        assert _plain(asdict(point)) == _plain(answer["operating_point"])


async def _predicted(address: tuple[str, str], texts: list[str], asked: Any) -> Any:
    async with labelserve.AsyncClient(*address) as client:
        return await client.predict(texts, **asked)


def _plain(value: Any) -> Any:
    """Lists for tuples, and nothing for what is empty, as JSON answers have it."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if one not in EMPTY}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def test_a_stream_is_answered_in_order_and_while_it_is_read(
    client: labelserve.Client, model: labelserve.LabelModel, texts: list[str]
) -> None:
    taken: list[int] = []
    many = texts * 20

    def generated() -> Iterator[str]:
        for number, text in enumerate(many):
            taken.append(number)
            yield text

    stream = client.stream(generated(), model="tiny", top_k=1)
    found = [next(stream)]
    assert len(taken) == MOST_TEXTS < len(many)
    found += stream
    assert found == model.predict(many, top_k=1)


def test_an_asynchronous_generator_is_streamed_too(
    address: tuple[str, str], model: labelserve.LabelModel, texts: list[str]
) -> None:
    async def generated() -> AsyncIterator[str]:
        for text in texts:
            await asyncio.sleep(0)
            yield text

    async def asked() -> list[labelserve.TextPrediction]:
        async with labelserve.AsyncClient(*address) as client:
            return [found async for found in client.stream(generated(), explain=1)]

    assert asyncio.run(asked()) == model.predict(texts, explain=1)


def test_a_text_that_cannot_be_answered_is_named_by_its_line(
    client: labelserve.Client, texts: list[str]
) -> None:
    many = [texts[0]] * (MOST_TEXTS + 3)
    many[MOST_TEXTS + 1] = "x" * (LONGEST + 1)
    with pytest.raises(BadRequestError, match=f"^line {MOST_TEXTS + 2}: a text has more") as caught:
        client.predict(many)
    error = caught.value
    assert (error.slug, error.status, error.line) == ("payload-too-large", 413, MOST_TEXTS + 2)
    assert error.request_id


def test_errors_have_types_and_say_what_the_service_said(
    client: labelserve.Client, address: tuple[str, str]
) -> None:
    with pytest.raises(UnknownModelError, match=r"no such model.*\(404 unknown-model, request py-"):
        client.predict(["a"], model="other")
    with pytest.raises(BadRequestError, match="cannot be reached") as caught:
        client.predict(["a"], operating_point="precision>=1")
    assert 0 < caught.value.best["precision"] < 1
    with (
        labelserve.Client(address[0], "wrong") as stranger,
        pytest.raises(AccessError, match="401 unauthorized"),
    ):
        stranger.models()
    with pytest.raises(TypeError, match="no such argument: 'topk'"):
        client.predict(["a"], topk=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="begins with http://"):
        labelserve.Client("localhost:8000")


def test_a_file_and_its_texts_are_evaluated_as_the_model_at_hand_does(
    client: labelserve.Client,
    address: tuple[str, str],
    model: labelserve.LabelModel,
    tmp_path: Path,
) -> None:
    data = labelserve.read(write_corpus(tmp_path / "test.jsonl", 40, seed=3))
    rows = [f"{'|'.join(one.labels)},{one.text}" for one in data]
    (tmp_path / "test.csv").write_text("\n".join(["labels,text", *rows]) + "\n")
    how: Any = {"k": [1, 2], "zero_division": 1, "decision": "rank:1"}

    async def asynchronous() -> labelserve.EvaluationReport:
        async with labelserve.AsyncClient(*address) as client:
            return await client.evaluate(tmp_path / "test.csv", **how)

    reports = [
        client.evaluate(tmp_path / "test.jsonl", **how),
        client.evaluate((tmp_path / "test.csv").read_bytes(), **how),
        client.evaluate(data, **how),
        client.evaluate(data.texts, data.labels, **how),
        asyncio.run(asynchronous()),
    ]
    wanted = model.evaluate(data, **how).as_dict()
    for report in reports:
        assert report.as_dict()["decisions"] == wanted["decisions"]
        assert report.as_dict()["ranking"] == wanted["ranking"]
    with pytest.raises(TypeError, match="a file that has labels of its own"):
        client.evaluate(b"text,labels\n", data.labels)
    with pytest.raises(ValueError, match="has no page"):
        reports[0].to_html(tmp_path / "report.html")


def test_a_client_lists_models_and_tells_whether_the_service_is_ready(
    client: labelserve.Client, model: labelserve.LabelModel, address: tuple[str, str]
) -> None:
    (served,) = client.models()
    assert (served.name, served.version, served.labels) == ("tiny", model.version, 5)
    assert client.health().is_ready
    assert address[0] in repr(client)
    assert address[1] not in repr(client)
    with labelserve.Client("http://127.0.0.1:1") as nobody:
        health = nobody.health()
    assert not health.is_ready
    assert "ConnectError" in health.status


def test_an_evaluation_is_handed_in_awaited_and_reported(
    client: labelserve.Client, tmp_path: Path
) -> None:
    file = write_corpus(tmp_path / "test.jsonl", 20, seed=6)
    (first,) = client.submit(file, models=["tiny"], k=(1, 2))
    done = client.wait(first)
    assert (done.state, done.info["name"], done.info["options"]["k"]) == ("done", file.name, [1, 2])
    report = client.report(done)
    assert report.micro_f1 == done.figures["micro.f1"]
    report.to_html(tmp_path / "page.html")
    assert "<h1>tiny@" in (tmp_path / "page.html").read_text()
    (second,) = client.submit(["a parcel"], [["shipping"]], keep=False)
    listed = client.evaluations(model="tiny", limit=2)
    assert [one.id for one in listed] == [second.id, first.id]
    assert client.evaluations(state="failed") == []


def test_an_evaluation_that_fails_raises_what_evaluate_would(
    address: tuple[str, str], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n")

    async def run() -> None:
        async with labelserve.AsyncClient(*address) as client:
            (handed_in,) = await client.submit(bad)
            with pytest.raises(BadRequestError) as failed:
                await client.wait(handed_in)
            assert (failed.value.slug, failed.value.line) == ("bad-record", 1)
            with pytest.raises(BadRequestError):
                await client.report(handed_in)
            with pytest.raises(UnknownEvaluationError):
                await client.report("0" * 32)
            assert len(await client.evaluations(state="failed")) == 1

    asyncio.run(run())


def test_evaluations_of_the_same_data_are_compared_and_ranked(
    client: labelserve.Client, address: tuple[str, str], tmp_path: Path
) -> None:
    file = write_corpus(tmp_path / "test.jsonl", 20, seed=8)
    first, second = (
        client.wait(client.submit(file, decision=decision)[0]) for decision in ("tuned", "rank:1")
    )
    found = client.compare(first, second.id)
    assert [found[side]["id"] for side in "ab"] == [first.id, second.id]
    assert "micro.f1" in found["tests"]["bootstrap"]
    with pytest.raises(BadRequestError):
        client.compare(first, client.wait(client.submit(["a parcel"], [["shipping"]])[0]))

    async def run() -> None:
        async with labelserve.AsyncClient(*address) as other:
            assert await other.compare(first, second) == found
            board = await other.leaderboard(first, "P@1")
            assert board == client.leaderboard(first.info["data"], "P@1")
            assert {row["evaluation"]["id"] for row in board["rows"]} == {first.id, second.id}

    asyncio.run(run())
