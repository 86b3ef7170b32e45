"""`below_cut`: the best labels that were not assigned, beside those that were."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

TEXT = "refund the invoice, the parcel is late"


async def asked(client: httpx.AsyncClient, **query: Any) -> dict[str, Any]:
    answer = await client.post("/predict", json={"documents": [TEXT], **query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["predictions"][0]
    return found


async def test_assigned_and_other_labels_together_are_the_ranking(
    client: httpx.AsyncClient,
) -> None:
    ranking = await asked(client, top_k=5)
    found = await asked(client, below_cut=100)
    names = [label["label"] for label in (*found["labels"], *found["below_cut"])]
    assert 0 < len(found["labels"]) < 5
    assert sorted(names) == sorted(label["label"] for label in ranking["labels"])
    scores = {label["label"]: label["score"] for label in ranking["labels"]}
    for label in found["below_cut"]:
        assert label["score"] == scores[label["label"]] <= label["threshold"]
    assert len((await asked(client, below_cut=1))["below_cut"]) == 1


async def test_a_label_passes_its_cut_in_probability_where_its_score_does(
    client: httpx.AsyncClient,
) -> None:
    for point in ("tuned", "recall>=0.9"):
        found = await asked(client, below_cut=5, operating_point=point)
        assert all(x["probability"] >= x["threshold_probability"] for x in found["labels"])
        known = [x for x in found["below_cut"] if "threshold" in x]
        assert known
        assert all(x["probability"] <= x["threshold_probability"] for x in known)
    found = await asked(client, below_cut=5, min_probability=0.5)
    assert {round(x["threshold_probability"], 4) for x in found["below_cut"]} == {0.5}


async def test_labels_are_as_they_are_without_it(client: httpx.AsyncClient) -> None:
    plain, found = await asked(client), await asked(client, below_cut=3)
    for label in found["labels"]:
        del label["threshold_probability"]
    assert found["labels"] == plain["labels"]


async def test_names_come_with_them(opened: Opened, named_models: Path) -> None:
    async with opened(models_dir=named_models) as client:
        found = await asked(client, below_cut=5, ancestors=True)
    labels = {x["label"]: x for x in (*found["labels"], *found["below_cut"])}
    assert labels["billing"]["name"] == "Rechnung & <b>Zahlung</b>"
    assert [x["label"] for x in labels["login"]["ancestors"]] == ["crash", "trouble", "all"]


@pytest.mark.parametrize("other", [{"labels": ["crash"]}, {"top_k": 3}])
async def test_it_is_refused_where_nothing_is_cut(
    client: httpx.AsyncClient, other: dict[str, Any]
) -> None:
    answer = await client.post("/predict", json={"documents": [TEXT], "below_cut": 3, **other})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/below_cut")
