"""/comparisons and /leaderboards: several evaluations side by side, for who may see them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.compare.kept_comparison import compare_kept
from app.evaluation.compare.leaderboard import leaderboard
from app.serving.jobs.folders import results_folder
from app.serving.jobs.job import Job
from app.serving.jobs.leases import JobResult, Leases
from app.serving.keys import KeysFile
from tests.api.conftest import Opened
from tests.evaluation.systems import made_up

pytestmark = pytest.mark.anyio

DATA, OTHER_DATA = "d" * 64, "e" * 64


@dataclass
class Site:
    """A service without workers, whose evaluations are made here."""

    client: httpx.AsyncClient
    folder: Path

    def queued(self, model: str) -> str:
        job = Job(model=model, version="1", upload="f" * 64, storage="", reading={}, options={})
        (stored,) = self.service.archive.submit([job], {})
        found: str = stored.id
        return found

    def done(self, model: str, seed: int, data: str = DATA) -> str:
        """The id of an evaluation of this model, as if a worker had finished it."""
        self.queued(model)
        archive = self.service.archive
        leases = Leases(archive._database, archive.storage)
        job = leases.claim("a worker")
        assert job is not None
        scorer, _ = made_up(40, seed=seed)
        _, documents = made_up(40, seed=1)
        options = EvaluationOptions(keep=self.results(job))
        evaluate(scorer, documents, options, info=JudgedModel(model, "1"))
        leases.finish(job, JobResult(data, 40, {"micro.f1": 0.5}, 60))
        return job.id

    def results(self, job: Job) -> Path:
        return results_folder(self.folder, job.id, job.token)

    def kept(self, id: str) -> Path:
        return self.results(self.service.archive.table.get(id))

    @property
    def service(self) -> Any:
        return self.client.service  # type: ignore[attr-defined]

    async def compared(self, a: str, b: str, **headers: str) -> httpx.Response:
        return await self.client.post("/comparisons", json={"a": a, "b": b}, headers=headers)


@pytest.fixture
async def site(opened: Opened, tmp_path: Path) -> AsyncIterator[Site]:
    async with opened(job_workers=0) as client:
        yield Site(client, tmp_path / "var")


async def test_a_comparison_is_that_of_the_kept_documents_with_both_evaluations(site: Site) -> None:
    a, b = site.done("first", 1), site.done("second", 2)
    answer = await site.compared(a, b)
    assert answer.status_code == 200, answer.text
    evaluations = {
        side: (await site.client.get(f"/evaluations/{id}")).json()
        for side, id in (("a", a), ("b", b))
    }
    assert answer.json() == {**evaluations, **compare_kept(site.kept(a), site.kept(b))}
    assert answer.json()["conclusion"].startswith("A (first@1) is better than B (second@1)")


async def test_a_leaderboard_has_every_evaluation_of_the_data_in_its_place(site: Site) -> None:
    ids = [site.done(f"model-{seed}", seed) for seed in (3, 1, 2)]
    site.done("elsewhere", 1, OTHER_DATA)
    site.queued("waiting")
    found = (await site.client.get(f"/leaderboards/{DATA}")).json()
    board = leaderboard({id: site.kept(id) for id in reversed(ids)})
    assert [row["evaluation"]["id"] for row in found["rows"]] == [
        row["evaluation"] for row in board["rows"]
    ]
    assert found["rows"][0]["evaluation"]["model"] == "model-1"
    assert {name: found[name] for name in ("pairs", "left_out", "figure", "resamples")} == {
        name: board[name] for name in ("pairs", "left_out", "figure", "resamples")
    }
    assert found["data"] == DATA
    losses = (await site.client.get(f"/leaderboards/{DATA}?figure=ranking_loss")).json()
    values = [row["value"] for row in losses["rows"]]
    assert values == sorted(values)


async def test_what_cannot_be_compared_is_refused(site: Site) -> None:
    a, other, waiting = site.done("first", 1), site.done("first", 1, OTHER_DATA), site.queued("q")
    for ids, status in (
        ((a, other), 409),
        ((a, waiting), 409),
        ((a, "0" * 32), 404),
        (("../etc", a), 404),
    ):
        assert (await site.compared(*ids)).status_code == status
    assert (await site.client.post("/comparisons", json={"a": a})).status_code == 422
    assert (await site.client.get(f"/leaderboards/{'0' * 64}")).status_code == 404
    refused = await site.client.get(f"/leaderboards/{DATA}?figure=micro.f7")
    assert (refused.status_code, "macro_in_test.f1" in refused.json()["detail"]) == (422, True)


async def test_a_damaged_evaluation_is_said_to_be(site: Site) -> None:
    a, b = site.done("first", 1), site.done("second", 2)
    (site.kept(a) / "pair.npy").write_bytes(b"")
    answer = await site.compared(a, b)
    assert answer.json()["type"] == "urn:labelserve:error:internal"
    (site.kept(b) / "kept.json").unlink()
    board = (await site.client.get(f"/leaderboards/{DATA}")).json()
    assert {entry["evaluation"] for entry in board["left_out"]} == {a, b}


async def test_more_comparisons_than_are_admitted_at_once_are_put_off(site: Site) -> None:
    a = site.done("first", 1)
    with site.service.comparisons.admit(2):
        for answer in (await site.compared(a, a), await site.client.get(f"/leaderboards/{DATA}")):
            assert (answer.status_code, "retry-after" in answer.headers) == (429, True)
    assert (await site.compared(a, a)).status_code == 200


async def test_a_key_sees_the_evaluations_of_its_models_alone(
    opened: Opened, tmp_path: Path
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    _, secret = keys.create(["evaluate"], ["team-*"])
    bearer = {"authorization": f"Bearer {secret}"}
    async with opened(job_workers=0, api_keys_file=tmp_path / "keys.json") as client:
        site = Site(client, tmp_path / "var")
        ours, theirs = site.done("team-a", 1), site.done("secret", 2)
        hidden = site.done("secret", 2, OTHER_DATA)
        board = (await client.get(f"/leaderboards/{DATA}", headers=bearer)).json()
        assert [row["evaluation"]["id"] for row in board["rows"]] == [ours]
        assert "secret" not in str(board)
        assert (await client.get(f"/leaderboards/{OTHER_DATA}", headers=bearer)).status_code == 404
        assert (await site.compared(ours, ours, **bearer)).status_code == 200
        for ids in ((ours, theirs), (hidden, ours)):
            assert (await site.compared(*ids, **bearer)).status_code == 404
