"""Handing in evaluations: who, by which models, on which files; and checking them first."""

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fastapi import Request
from starlette.responses import Response

from app.api.evaluations.query import MOST_FILES, EvaluationsQuery
from app.api.evaluations.schemas import DataCheck, Evaluation, EvaluationBatch
from app.api.http.bodies import client_gone
from app.api.http.request_context import RequestContext
from app.api.http.uploads import FileReceiver, format_of, shown_name, spooled
from app.api.identity import take_documents
from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.errors import DrainingError, ModelNotFoundError
from app.evaluation.deciders import decider
from app.evaluation.options import EvaluationOptions
from app.serving.admission import Deadline
from app.serving.evaluating import evaluated
from app.serving.identity import ANYONE, Identity
from app.serving.jobs.checking import CheckJob
from app.serving.jobs.job import Job, new_id
from app.serving.jobs.job_options import options_json, reading_json
from app.serving.service import Service

PATH, SCOPE = "/evaluations", "evaluate"
ANY_FORMAT = "auto"


class ChosenModel(NamedTuple):
    """A version, as it was current when it was asked for."""

    name: str
    version: str

    @property
    def reference(self) -> str:
        """As a user writes it."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True)
class Submission:
    """What a caller asks for, once everything but the files was looked at."""

    service: Service
    caller: Identity
    context: RequestContext
    query: EvaluationsQuery
    models: list[ChosenModel]
    options: EvaluationOptions
    reading: ReadOptions
    deadline: Deadline

    @classmethod
    async def of(
        cls, service: Service, caller: Identity, context: RequestContext, query: EvaluationsQuery
    ) -> "Submission":
        """The submission; every error that is known before the body is read."""
        if service.is_draining:
            raise DrainingError("the service is shutting down; ask another replica")
        options = query.options()
        chosen = [_chosen(service, caller, name, options) for name in query.references()]
        models = list(dict.fromkeys([await one for one in chosen]))
        by_type = ANY_FORMAT if query.upload else format_of(context)
        reading = query.reading(by_type, service.settings.max_upload_bytes)
        await take_documents(caller, 0, context, service)
        context.model, context.version = models[0]
        deadline = Deadline.after(service.settings.evaluate_seconds)
        return cls(service, caller, context, query, models, options, reading, deadline)

    @property
    def names(self) -> list[str]:
        """The models' names: the caller must keep the right to use them."""
        return [model.name for model in self.models]

    @property
    def name(self) -> str:
        """What a file is called that has no name of its own."""
        return shown_name(self.query.name)

    async def handed_in(self, request: Request, most_files: int = MOST_FILES) -> list[Job]:
        """The evaluations, stored: one for every file and model, in that order."""
        async with AsyncExitStack() as stack:
            files = await self._files(request, stack, most_files)
            paths = {file.sha256: file.path if file.is_new else None for file in files}
            archive, jobs = self.service.archive, self._jobs(files)
            return await asyncio.to_thread(archive.submit, jobs, paths)

    async def checks(self, request: Request) -> list[DataCheck]:
        """What was read of every file."""
        async with AsyncExitStack() as stack:
            files = await self._files(request, stack, MOST_FILES)
            stack.enter_context(self.service.evaluations.admit(1))
            return [await self._checked(file, request, stack) for file in files]

    async def _files(
        self, request: Request, stack: AsyncExitStack, most: int
    ) -> list["SubmittedFile"]:
        """The files of the body, or those that are there already; gone when the stack ends."""
        service = self.service
        if self.query.upload:
            uploads = service.archive.uploads
            hashes = self.query.uploads()
            paths = await asyncio.to_thread(lambda: [uploads.path(sha256) for sha256 in hashes])
            found = zip(hashes, paths, strict=True)
            return [SubmittedFile(path, self.name, sha256, False) for sha256, path in found]
        stack.enter_context(service.uploads.admit(1))
        folder = stack.enter_context(service.spool.folder())
        limit = service.settings.max_upload_bytes
        receiver = FileReceiver(folder, limit, most=most, is_hashed=True)
        received = await spooled(request.receive, self.context, receiver, service, self.deadline)
        return [SubmittedFile(f.path, f.name or self.name, f.sha256, True) for f in received]

    def _jobs(self, files: list["SubmittedFile"]) -> list[Job]:
        batch = new_id()
        return [
            Job(
                model=model.name,
                version=model.version,
                upload=file.sha256,
                storage="",
                reading=reading_json(self.reading),
                options=options_json(self.options),
                batch=batch,
                name=file.name,
                owner=None if self.caller is ANYONE else self.caller.name,
                keep=self.query.keep,
            )
            for file in files
            for model in self.models
        ]

    async def _checked(
        self, file: "SubmittedFile", request: Request, stack: AsyncExitStack
    ) -> DataCheck:
        folder = stack.enter_context(self.service.spool.folder())
        job = CheckJob(
            self.service.settings.models_dir,
            self.models[0].reference,
            file.path,
            folder,
            self.reading,
            self.options,
            references=tuple(model.reference for model in self.models),
        )
        found = await evaluated(job, self.deadline, client_gone(request.receive))
        content = json.loads(b"".join(found.pieces))
        return DataCheck(name=file.name, upload=file.sha256, **content)


@dataclass(frozen=True)
class SubmittedFile:
    """A file to evaluate; a new one still lies in the spool."""

    path: Path
    name: str
    sha256: str
    is_new: bool


async def _chosen(
    service: Service, caller: Identity, reference: str | None, options: EvaluationOptions
) -> ChosenModel:
    """The version that a reference means now, with which these options make sense.

    A version that is not loaded may be named, too: only its own process will load it.
    """
    if reference is not None:
        caller.require_model(reference.partition("@")[0])
    try:
        model = service.registry.get(reference, caller.may_use).model
    except ModelNotFoundError:
        name, _, version = (reference or "").partition("@")
        if name not in service.registry.names:
            raise
        if version not in await asyncio.to_thread(
            Store(service.settings.models_dir).versions, name
        ):
            raise
        return ChosenModel(name, version)
    caller.require_model(model.name)
    await asyncio.to_thread(decider, options.decision, model.classifier)
    return ChosenModel(model.name, model.version)


async def accepted(service: Service, jobs: list[Job]) -> Response:
    """The answer to evaluations that were handed in, with the address of the first."""

    def encoded() -> str:
        return EvaluationBatch(evaluations=[Evaluation.of(job) for job in jobs]).model_dump_json()

    content = await asyncio.to_thread(encoded)  # there may be a thousand
    headers = {"location": f"{service.settings.root_path}{PATH}/{jobs[0].id}"}
    return Response(content, 202, headers, media_type="application/json")
