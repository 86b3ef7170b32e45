"""POST /predict: what is asked, what comes back."""

import json
from typing import Any

import httpx
import pytest

from app.api import predictor as predicting
from app.errors import TooManyRequestsError
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

BILLING, PRINTER = "refund the invoice payment", "paper jam in the tray, toner"


async def predicted(client: httpx.AsyncClient, **fields: Any) -> list[dict[str, Any]]:
    answer = await client.post("/predict", json={"documents": [BILLING, PRINTER], **fields})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["predictions"]
    return found


def names(prediction: dict[str, Any]) -> list[str]:
    return [label["label"] for label in prediction["labels"]]


async def test_labels_come_back_with_version_and_headers(client: httpx.AsyncClient) -> None:
    body = {"documents": [BILLING, {"id": "7", "text": PRINTER}, {"text": ""}]}
    answer = await client.post("/predict", json=body)
    found = answer.json()
    assert answer.status_code == 200
    assert found["model"] == "tiny"
    assert found["operating_point"]["name"] == "tuned"
    assert 0 < found["operating_point"]["precision"] <= 1
    assert list(map(names, found["predictions"])) == [["billing"], ["printer"], []]
    assert [p.get("id") for p in found["predictions"]] == [None, "7", None]
    assert "id" not in found["predictions"][0]
    assert answer.headers["x-model-version"] == found["version"]
    assert answer.headers["x-documents"] == "3"
    first = found["predictions"][0]["labels"][0]
    assert first["score"] > first["threshold"]
    assert 0.5 < first["probability"] <= 1


async def test_the_tuned_point_tells_what_to_expect_of_new_documents(
    client: httpx.AsyncClient,
) -> None:
    figures = (await client.get("/models/tiny")).json()["figures"]["held_out"]
    found = (await client.post("/predict", json={"documents": [BILLING]})).json()
    for measure in ("precision", "recall"):
        told = found["operating_point"][measure]
        assert told == pytest.approx(figures[f"micro_{measure}"], abs=0.1)
        low, high = found["operating_point"][f"{measure}_interval"]
        assert low < told <= high
    ranked = await client.post("/predict", json={"documents": [BILLING], "top_k": 1})
    assert "operating_point" not in ranked.json()


async def test_top_k_alone_ranks_all_labels_without_a_threshold(client: httpx.AsyncClient) -> None:
    found = await predicted(client, top_k=3)
    assert [len(p["labels"]) for p in found] == [3, 3]
    scores = [label["score"] for label in found[0]["labels"]]
    assert scores == sorted(scores, reverse=True)
    assert "threshold" not in found[0]["labels"][0]


async def test_one_cut_on_score_or_probability_is_what_comes_back(
    client: httpx.AsyncClient,
) -> None:
    everything = await predicted(client, threshold=-1000.0)
    assert len(everything[0]["labels"]) == 5
    assert {label["threshold"] for label in everything[0]["labels"]} == {-1000.0}
    least = everything[0]["labels"][1]["probability"] - 1e-6
    fewer = await predicted(client, min_probability=least)
    likely = [one for one in everything[0]["labels"] if one["probability"] >= least]
    assert [one["label"] for one in likely] == names(fewer[0])
    assert 2 <= len(likely) < 5
    assert await predicted(client, threshold=1000.0) == [{"labels": []}, {"labels": []}]


async def test_labels_restrict_candidates_before_top_k(client: httpx.AsyncClient) -> None:
    found = await predicted(client, top_k=1, labels=["crash", "login"])
    assert all(set(names(p)) <= {"crash", "login"} and len(names(p)) == 1 for p in found)
    tuned = await predicted(client, labels=["printer"])
    assert list(map(names, tuned)) == [[], ["printer"]]


@pytest.mark.parametrize("point", ["precision>=0.5", "recall>=0.5", "f1", "macro:f2"])
async def test_operating_points_say_what_was_expected_there(
    client: httpx.AsyncClient, point: str
) -> None:
    body = {"documents": [BILLING], "operating_point": point}
    found = (await client.post("/predict", json=body)).json()
    assert found["operating_point"]["name"] == point
    assert 0 < found["operating_point"]["precision"] <= 1
    low, high = found["operating_point"]["recall_interval"]
    assert 0 <= low <= found["operating_point"]["recall"] <= high <= 1
    assert "met" not in found["operating_point"]
    assert names(found["predictions"][0]) == ["billing"]


async def test_an_unattainable_point_is_refused_with_the_best_unless_the_nearest_will_do(
    client: httpx.AsyncClient,
) -> None:
    body = {"documents": [BILLING], "operating_point": "precision>=1"}
    refused = await client.post("/predict", json=body)
    assert (refused.status_code, refused.json()["type"][-12:]) == (422, "unattainable")
    best = refused.json()["best"]["precision"]
    assert 0 < best < 1
    found = (await client.post("/predict", json={**body, "nearest": True})).json()
    assert found["operating_point"]["met"] is False
    assert found["operating_point"]["precision"] >= best
    reachable = {"operating_point": f"precision>={best - 0.001:.3f}"}
    assert (await client.post("/predict", json={**body, **reachable})).status_code == 200
    met = (await client.post("/predict", json={**body, **reachable, "nearest": True})).json()
    assert met["operating_point"]["met"] is True
    alone = await client.post("/predict", json={"documents": ["a"], "nearest": True})
    assert (alone.status_code, alone.json()["errors"][0]["pointer"]) == (422, "/nearest")


async def test_labels_that_cannot_reach_their_own_precision_are_named(
    client: httpx.AsyncClient,
) -> None:
    body = {"documents": [BILLING], "operating_point": "each:precision>=0.8"}
    point = (await client.post("/predict", json=body)).json()["operating_point"]
    assert point["n_not_assigned"] == len(point["not_assigned"]) < 5
    high = await client.post("/predict", json={**body, "operating_point": "each:precision>=0.999"})
    assert (high.status_code, high.json()["type"][-12:]) == (422, "unattainable")


@pytest.mark.parametrize(
    ("fields", "status", "kind"),
    [
        ({"labels": ["billing", "no such"]}, 422, "invalid-request"),
        ({"threshold": 0.0, "min_probability": 0.5}, 422, "invalid-request"),
        ({"operating_point": "nonsense"}, 422, "invalid-request"),
        ({"top_k": 0}, 422, "invalid-request"),
        ({"top_k": True}, 422, "invalid-request"),
        ({"unheard": 1}, 422, "invalid-request"),
        ({"documents": []}, 422, "invalid-request"),
        ({"documents": ["a"] * 1001}, 413, "payload-too-large"),
        ({"documents": ["a" * 1_000_001]}, 413, "payload-too-large"),
        ({"model": "other"}, 404, "unknown-model"),
        ({"model": ""}, 404, "unknown-model"),
        ({"model": "../tiny"}, 404, "unknown-model"),
        ({"model": "tiny@20200101T000000-000000"}, 404, "unknown-model"),
    ],
)
async def test_what_cannot_be_answered_says_why(
    client: httpx.AsyncClient, fields: dict[str, Any], status: int, kind: str
) -> None:
    answer = await client.post("/predict", json={"documents": ["some text"], **fields})
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:labelserve:error:{kind}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_an_error_points_at_its_place_and_echoes_nothing(client: httpx.AsyncClient) -> None:
    body = {"documents": ["a", {"text": "b", "secret words": 1}]}
    answer = await client.post("/predict", json=body)
    assert answer.json()["errors"][0]["pointer"] == "/documents/1"
    assert "secret" not in answer.text
    answer = await client.post("/predict", json={"documents": ["a"], "secret words": 1})
    assert answer.json()["errors"][0]["pointer"] == ""  # the body itself
    assert "secret" not in answer.text
    unknown = {"documents": ["a"], "labels": ["billing", "secret words"]}
    answer = await client.post("/predict", json=unknown)
    assert answer.json()["errors"][0]["pointer"] == "/labels/1"
    assert "secret" not in answer.text


async def test_a_version_can_be_named(client: httpx.AsyncClient) -> None:
    version = (await client.get("/models")).json()["models"][0]["version"]
    body = {"documents": ["a"], "model": f"tiny@{version}"}
    assert (await client.post("/predict", json=body)).json()["version"] == version


async def test_other_media_types_are_415(client: httpx.AsyncClient) -> None:
    answer = await client.post("/predict", data={"documents": "a"})
    assert answer.status_code == 415
    answer = await client.post(
        "/predict", content=b"{}", headers={"content-encoding": "gzip", "content-type": "text/json"}
    )
    assert answer.status_code == 415


async def test_request_ids_and_traces_are_passed_on(client: httpx.AsyncClient) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"x-request-id": "abc-1", "traceparent": trace}
    answer = await client.get("/health/live", headers=headers)
    assert answer.headers["x-request-id"] == "abc-1"
    assert answer.headers["traceparent"] == trace
    answer = await client.get("/health/live", headers={"x-request-id": "not good\x7f"})
    assert answer.headers["x-request-id"] != "not good\x7f"


async def test_the_same_document_gets_the_same_labels_in_any_company(opened: Opened) -> None:
    """Alone, in a batch of 32, in a batch of 1000."""
    async with opened() as client:
        alone = await predicted(client, documents=[BILLING])
        for size in (2, 32, 1000):
            batch = [PRINTER] * (size - 1) + [BILLING]
            together = await predicted(client, documents=batch)
            assert names(together[-1]) == names(alone[0])
            assert together[-1]["labels"][0]["score"] == pytest.approx(
                alone[0]["labels"][0]["score"], abs=1e-6
            )


async def test_more_labels_than_an_answer_may_hold_are_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predicting, "MOST_ANSWERS", 9)
    for asked in ({"top_k": 5}, {"threshold": -1000}, {"top_k": 3, "explain": 2}):
        body = {"documents": [BILLING, PRINTER], **asked}
        answer = await client.post("/predict", json=body)
        assert answer.status_code == 422, asked
        assert answer.json()["type"] == "urn:labelserve:error:invalid-request"
        assert "more than 9 labels" in answer.json()["detail"]
    assert len(await predicted(client, top_k=4)) == 2


async def test_the_inference_protocol_takes_the_same_parameters(client: httpx.AsyncClient) -> None:
    tensor = {"name": "text", "datatype": "BYTES", "shape": [2], "data": [BILLING, PRINTER]}
    asked = {"top_k": 1, "labels": ["crash", "login"]}
    body = {"inputs": [tensor], "parameters": asked}
    answer = await client.post("/v2/models/tiny/infer", json=body)
    found = [json.loads(line) for line in answer.json()["outputs"][0]["data"]]
    assert found == await predicted(client, **asked)
    body["parameters"] = {"labels": ["unheard"]}
    assert (await client.post("/v2/models/tiny/infer", json=body)).status_code == 422


async def test_large_bodies_and_answers_are_read_and_written_in_threads(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_threads: list[Any] = []
    real = predicting.Predictor.in_thread

    async def noted(self: predicting.Predictor, work: Any, *arguments: Any) -> Any:
        in_threads.append(work)
        return await real(self, work, *arguments)

    monkeypatch.setattr(predicting.Predictor, "in_thread", noted)
    for texts, is_large in (([BILLING], False), ([BILLING] * 1000, True)):
        tensor = {"name": "text", "datatype": "BYTES", "shape": [len(texts)], "data": texts}
        lines = "\n".join(map(json.dumps, texts[:64]))
        ndjson = {"content-type": "application/x-ndjson"}
        await predicted(client, documents=texts)
        await client.post("/v2/models/tiny/infer", json={"inputs": [tensor]})
        assert len(in_threads) == (4 if is_large else 0)
        in_threads.clear()
        await client.post("/predict?top_k=5", content=lines, headers=ndjson)
        assert in_threads == []  # a batch of short lines is small work


async def test_in_an_overload_large_requests_come_one_at_a_time_and_short_ones_as_ever(
    opened: Opened,
) -> None:
    large, lines = [BILLING] * 1000, "\n".join([json.dumps(BILLING)] * 30)
    tensor = {"name": "text", "datatype": "BYTES", "shape": [1000], "data": large}
    async with opened(max_concurrency=4000) as client:
        documents = client.service.documents  # type: ignore[attr-defined]
        with documents.admit(1000):
            await predicted(client, documents=large)
            while not documents.is_overrun:
                with pytest.raises(TooManyRequestsError):
                    documents.check(4000)
            for path, body in (
                ("/predict", {"documents": large}),
                ("/predict", {"documents": ["a"] * 500}),  # known to be large once it is read
                ("/v2/models/tiny/infer", {"inputs": [tensor]}),
            ):
                answer = await client.post(path, json=body)
                assert answer.status_code == 429
                assert int(answer.headers["retry-after"]) >= 1
            await predicted(client)
            ndjson = {"content-type": "application/x-ndjson"}
            answer = await client.post("/predict", content=lines, headers=ndjson)
            assert (answer.status_code, len(answer.text.splitlines())) == (200, 30)
        await predicted(client, documents=large)
