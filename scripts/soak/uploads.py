"""Uploads in the long runs: large ones (R4), bombs (R5), clients that leave half-way (R17)."""

import asyncio
import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import zstandard
from soak.client import (
    NDJSON,
    Answer,
    Client,
    head,
    p99,
    prediction,
    read_answer,
    request,
)
from soak.demo import TEXT, labelled
from soak.findings import Findings
from soak.running_replica import MEBIBYTE, RunningReplica, running_replica

FORM = "multipart/form-data; boundary=soak"
PART = b'--soak\r\nContent-Disposition: form-data; name="file"; filename="t.jsonl"\r\n\r\n'
PART_END = b"\r\n--soak--\r\n"


def large_uploads(models: Path, folder: Path, quick: bool) -> Findings:
    """R4: 300 MB raw, in gzip and as multipart, while another client predicts."""
    found = Findings()
    size = (30 if quick else 300) * 1_000_000
    body = labelled(size, folder)
    ways = {
        "raw": (NDJSON, body),
        "gzip": (NDJSON, gzip.compress(body, 1)),
        "multipart": (FORM, PART + body + PART_END),
    }
    with running_replica(models, folder) as running:
        asyncio.run(_upload_each(running, ways, found))
    return found


async def _upload_each(
    running: RunningReplica, ways: dict[str, tuple[str, bytes]], found: Findings
) -> None:
    client = Client(running.port)
    await client.send(request("/evaluate", b'{"text": "a", "labels": ["login"]}\n', NDJSON))
    idle = p99(await client.paced(prediction([TEXT]), 50, 5.0))
    base = await _small_evaluation(running, client, ways["raw"][1][:1_000_000])
    found.note(f"p99 of predict idle {idle * 1e3:.1f} ms")
    found.note(f"an evaluation of 1 MB takes {base:.0f} MB in a process of its own")
    for name, (kind, body) in ways.items():
        before, done = (running.memory(), running.all_memory()), asyncio.Event()
        watching = asyncio.gather(
            client.repeated(prediction([TEXT]), done, 0.02),
            _most(running.memory, done, 0.05),
            _most(running.all_memory, done, 0.5),
        )
        answer, sent = await _uploaded(client, kind, body)
        done.set()
        times, most, most_of_all = await watching
        grown, slower = most - before[0], (p99(times) - idle) * 1e3
        rate = len(body) / sent / 1e6
        found.note(
            f"{name} ({len(body) / 1e6:.0f} MB): {answer.status} after {answer.seconds:.0f} s",
            answer.status == 200,
        )
        found.note(f"{rate:.0f} MB/s into the spool", rate >= 100)
        found.note(f"memory +{grown:.0f} MB", grown <= 64)
        found.note(f"its own process {most_of_all - before[1] - grown:.0f} MB")
        found.note(f"p99 of predict +{slower:.0f} ms", slower <= 50)
    client.close()


async def _small_evaluation(running: RunningReplica, client: Client, some: bytes) -> float:
    """The memory that the process of an evaluation takes, whatever it reads."""
    before, done = running.all_memory(), asyncio.Event()
    watching = asyncio.create_task(_most(running.all_memory, done, 0.01))
    await client.send(request("/evaluate", some[: some.rindex(b"\n") + 1], NDJSON))
    done.set()
    return await watching - before


async def _uploaded(client: Client, kind: str, body: bytes) -> tuple[Answer, float]:
    """The answer to an evaluation, and the seconds until its last byte was taken."""
    reader, writer = await client.open()
    start = perf_counter()
    writer.write(head("/evaluate", kind, f"Content-Length: {len(body)}"))
    view = memoryview(body)
    for place in range(0, len(body), MEBIBYTE):
        writer.write(view[place : place + MEBIBYTE])
        await writer.drain()
    sent = perf_counter() - start
    answer = await read_answer(reader, start)
    writer.close()
    return answer, sent


async def _most(figure: Callable[[], float], done: asyncio.Event, pause: float) -> float:
    """The largest value of a figure until told to stop."""
    most = figure()
    while not done.is_set():
        await asyncio.sleep(pause)
        most = max(most, figure())
    return most


def bombs(models: Path, folder: Path, quick: bool) -> Findings:
    """R5: 1 and 4 GiB in little, nested, truncated, with a wrong checksum."""
    found = Findings()
    with running_replica(models, folder) as running:
        asyncio.run(_explode(running, _bombs(1 if quick else 4), found))
    return found


def _bombs(gibibytes: int) -> dict[str, bytes]:
    zeros = gzip.compress(bytes(16 * MEBIBYTE))
    zstd = zstandard.compress(bytes(64 * MEBIBYTE))
    whole = gzip.compress(b'{"text": "a", "labels": ["login"]}\n' * 1000)
    sizes = sorted({1, gibibytes})
    return {
        **{f"{size} GiB gzip": zeros * (64 * size) for size in sizes},
        **{f"{size} GiB zstd": zstd * (16 * size) for size in sizes},
        "nested": gzip.compress(zeros * 256),
        "truncated": whole[: len(whole) // 2],
        "wrong CRC": whole[:-8] + (zlib.crc32(b"other")).to_bytes(4, "little") + whole[-4:],
    }


async def _explode(running: RunningReplica, kinds: dict[str, bytes], found: Findings) -> None:
    client = Client(running.port)
    await client.send(request("/evaluate", b'{"text": "a", "labels": ["login"]}\n', NDJSON))
    await asyncio.sleep(0.5)
    for name, bomb in kinds.items():
        before, done = running.memory(), asyncio.Event()
        watching = asyncio.create_task(_most(running.memory, done, 0.02))
        answer = await client.send(request("/evaluate", bomb, NDJSON))
        done.set()
        grown = await watching - before
        found.note(
            f"{name}: {answer.status} in {answer.seconds:.2f} s, memory +{grown:.0f} MB",
            answer.status in (413, 422) and answer.seconds <= 1 and grown <= 16,
        )
    client.close()


def leavers(models: Path, folder: Path, quick: bool) -> Findings:
    """R17: clients that leave in the middle of an upload, 500 times."""
    found, count = Findings(), 40 if quick else 500
    settings = {"LABELSERVE_MAX_EVALUATIONS": "16"}
    with running_replica(models, folder, **settings) as running:
        asyncio.run(_leave(running, count, labelled(MEBIBYTE, folder), found))
        start = perf_counter()
        while (running.spool or running.figure("labelserve_in_flight")) and _since(start) < 30:
            pass
        seconds = _since(start)
        left, flying = len(running.spool), running.figure("labelserve_in_flight")
        found.note(f"spool {left} and in flight {flying:.0f} after {seconds:.1f} s", seconds <= 5)
        traces = running.log.count("Traceback")
        found.note(f"{traces} tracebacks", not traces)
    return found


def _since(start: float) -> float:
    return perf_counter() - start


async def _leave(running: RunningReplica, count: int, body: bytes, found: Findings) -> None:
    client, free = Client(running.port), asyncio.Semaphore(8)
    most = 0

    async def one(number: int) -> None:
        nonlocal most
        async with free:
            _, writer = await client.open()
            for piece in _half(number, body):
                writer.write(piece)
                await writer.drain()
            await asyncio.sleep(0.05)
            most = max(most, len(running.spool))
            writer.transport.abort()

    await asyncio.gather(*(one(number) for number in range(count)))
    answer = await client.send(request("/evaluate", body, NDJSON))
    found.note(f"{count} left, up to {most} uploads in the spool at once", most > 0)
    found.note(f"the next evaluation {answer.status}", answer.status == 200)
    client.close()


def _half(number: int, body: bytes) -> list[bytes]:
    """A head and part of a body, in one of four ways of sending it."""
    half, length = body[: 1000 + number * 500 % len(body)], f"Content-Length: {len(body) * 2}"
    packed = gzip.compress(half, 1)
    return [
        [head("/evaluate", NDJSON, length), half],
        [head("/evaluate", NDJSON, length, "Content-Encoding: gzip"), packed],
        [head("/evaluate", FORM, length), PART + half],
        [
            head("/evaluate", NDJSON, "Transfer-Encoding: chunked"),
            f"{len(half):x}\r\n".encode() + half + b"\r\n",
        ],
    ][number % 4]
