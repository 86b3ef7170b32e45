"""GET /models/{name}/shadow, /canary and /drift, and which version a caller gets meanwhile."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.artifacts.packing import pack, unpack
from app.artifacts.store import Store
from app.artifacts.trials import VersionTrial
from app.model import load_model, model_from
from app.serving.keys import KeysFile
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

TEXTS = ["the app crashes at login", "an invoice and a refund", "toner and paper jam", ""]


@pytest.fixture
def store(tiny_models: Path, tmp_path: Path) -> Store:
    """A store with two versions of `tiny` that answer alike; the older is current."""
    store = Store(Path(shutil.copytree(tiny_models, tmp_path / "models")))
    tiny = load_model(store, "tiny")
    info = replace(tiny.info(), document_histograms={"characters": BINS})
    old = store.write("tiny", tiny.classifier.state(), info)
    store.write("tiny", tiny.classifier.state(), tiny.info())
    store.promote("tiny", old)
    store.remove("tiny", tiny.version)
    return store


BINS = {"edges": [20.0, 40.0, 80.0], "counts": [100, 100, 100, 100]}


async def predicted(client: httpx.AsyncClient, **options: Any) -> str:
    answer = await client.post("/predict", json={"documents": TEXTS}, **options)
    assert answer.status_code == 200
    version: str = answer.json()["version"]
    assert answer.headers["x-model-version"] == version
    return version


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():
            await asyncio.sleep(0.02)


async def test_a_model_without_trials_says_so(client: httpx.AsyncClient) -> None:
    for kind in ("shadow", "canary"):
        answer = await client.get(f"/models/tiny/{kind}")
        assert (answer.status_code, answer.json()["state"]) == (200, "none")
        assert (await client.get(f"/models/other/{kind}")).status_code == 404
    drift = (await client.get("/models/tiny/drift")).json()
    assert (drift["state"], drift["documents"]) == ("unknown", 0)


async def test_a_shadow_is_compared_and_never_seen_by_clients(opened: Opened, store: Store) -> None:
    current, new = store.versions("tiny")
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    async with opened(models_dir=store.path) as client:

        async def has_compared() -> bool:
            assert await predicted(client) == current
            found = (await client.get("/models/tiny/shadow")).json()
            return bool(found["figures"]["compared"] > 1)  # one has no interval

        await until(has_compared)
        found = (await client.get("/models/tiny/shadow")).json()
        figures = (await client.get("/metrics")).text
    assert (found["state"], found["version"], found["current"]) == ("running", new, current)
    assert found["figures"]["jaccard"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert found["figures"]["all_labels"]["only_shadow"] == 0
    assert f'labelserve_shadow_labels_total{{assigned_by="both",model="tiny",version="{new}"' in (
        figures
    )


async def test_the_same_key_always_gets_the_same_side_and_sides_are_counted(
    opened: Opened, store: Store, tmp_path: Path
) -> None:
    current, new = store.versions("tiny")
    store.begin_trial("tiny", "canary", VersionTrial(new, 0.5))
    keys = KeysFile(tmp_path / "keys.json")
    secrets = [keys.create(["predict"])[1] for _ in range(12)]
    async with opened(models_dir=store.path, api_keys_file=tmp_path / "keys.json") as client:
        sides = []
        for _ in range(2):
            callers = [{"authorization": f"Bearer {secret}"} for secret in secrets]
            sides.append([await predicted(client, headers=one) for one in callers])
        client.headers["authorization"] = f"Bearer {secrets[0]}"
        found = (await client.get("/models/tiny/canary")).json()
        named = await client.post("/predict", json={"documents": TEXTS, "model": f"tiny@{current}"})
    assert sides[0] == sides[1]
    assert set(sides[0]) <= {current, new}
    counts = {side: own["answered"] for side, own in found["sides"].items()}
    assert counts == {"canary": 2 * sides[0].count(new), "current": 2 * sides[0].count(current)}
    assert found["sides"]["current"]["failed"] == 0
    assert named.json()["version"] == current


async def test_callers_are_told_apart_by_the_header_that_is_named(
    opened: Opened, store: Store
) -> None:
    current, new = store.versions("tiny")
    store.begin_trial("tiny", "canary", VersionTrial(new, 0.5, by="x-tenant"))
    async with opened(models_dir=store.path) as client:
        tenants = [{"x-tenant": str(number)} for number in range(20)]
        first, again = [
            [await predicted(client, headers=tenant) for tenant in tenants] for _ in range(2)
        ]
        without = {await predicted(client) for _ in range(4)}
        refused = await client.post("/predict", json={"documents": TEXTS, "labels": ["none such"]})
        found = (await client.get("/models/tiny/canary")).json()
    assert first == again
    assert set(first) == {current, new}
    assert len(without) == 1
    assert refused.status_code == 422
    assert sum(side["refused"] for side in found["sides"].values()) == 1
    assert found["by"] == "x-tenant"


async def test_a_trial_that_begins_or_ends_is_seen_at_the_next_look(
    opened: Opened, store: Store
) -> None:
    current, new = store.versions("tiny")
    async with opened(models_dir=store.path, poll_seconds=1000) as client:
        service = client.service  # type: ignore[attr-defined]
        assert await predicted(client) == current
        store.begin_trial("tiny", "canary", VersionTrial(new, 1))
        service.look()
        assert await predicted(client) == new
        assert (await client.get("/models/tiny/card")).json()["version"] == current
        store.end_trial("tiny", "canary")
        service.look()
        assert await predicted(client) == current


async def test_a_damaged_shadow_is_told_of_and_the_current_version_answers(
    opened: Opened, store: Store
) -> None:
    current, new = store.versions("tiny")
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    file = next((store.path / "tiny" / new).glob("*.npy"))
    file.write_bytes(bytes(file.stat().st_size))
    async with opened(models_dir=store.path) as client:
        found = (await client.get("/models/tiny/shadow")).json()
        assert (found["state"], found["figures"]) == ("failed", None)
        assert f"tiny@{new}" in found["problem"]
        assert await predicted(client) == current
        assert (await client.get("/health/ready")).status_code == 200


async def test_documents_that_differ_from_those_held_out_are_drifted(
    opened: Opened, store: Store
) -> None:
    async with opened(models_dir=store.path) as client:
        assert (await client.get("/models/tiny/drift")).json()["state"] == "waiting"
        long = {"documents": ["toner " * 40] * 50}

        async def is_judged() -> bool:
            await client.post("/predict", json=long)
            answer = await client.get("/models/tiny/drift")
            return bool(answer.json()["documents"] >= 200)

        await until(is_judged)
        found = (await client.get("/models/tiny/drift")).json()
    assert found["state"] == "drifted"
    (measure,) = found["measures"]
    assert (measure["measure"], measure["is_drifted"]) == ("characters", True)
    assert measure["psi"] > 0.2


async def test_a_model_packed_unpacked_and_served_answers_as_it_did(
    opened: Opened, tiny_models: Path, tmp_path: Path
) -> None:
    here, there = Store(tiny_models), Store(tmp_path / "there")
    there.path.mkdir()
    name, version = here.resolve("tiny")
    pack(here, name, version, tmp_path / "tiny.zip")
    assert unpack(there, tmp_path / "tiny.zip", check=model_from).is_new
    there.promote(name, version)
    asked = {"documents": TEXTS, "top_k": 3, "explain": 2}
    bodies = []
    for store in (here, there):
        async with opened(models_dir=store.path, data_dir=tmp_path / store.path.name) as client:
            bodies.append((await client.post("/predict", json=asked)).content)
    assert bodies[0] == bodies[1]
