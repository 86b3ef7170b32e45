"""Streams of bytes held against our protocol and against plain uvicorn; what differs is explained.

`python scripts/streams/run.py --streams 1000` tries 1000; `--seed 17` shows one. Rules explain
what may differ; a stream to which one of the first two applies is held against uvicorn again,
written without what the rule is about, and then there must be no difference left.

offer      we ignore an offer to upgrade, and read on; uvicorn drops what follows its head
trailers   we drop trailers; uvicorn adds them to the headers
at once    the fast path has answered before an invalid request behind it ends the connection
tunnel     CONNECT is an invalid request to us; to uvicorn it ends the parsing
"""

import argparse
import asyncio
import logging
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
from streams.conversation import Outcome, ours, ours_without_fast_path, outcome, plain
from streams.requests import Request, Stream, a_stream

CHUNK = 250


async def verdict(stream: Stream) -> str:
    """`equal`, the rules that explain the difference, or `unexplained`."""
    mine, theirs = await outcome(stream, ours), await outcome(stream, plain)
    if mine == theirs:
        return "equal"
    rules = [
        name for name in ("offer", "trailers") if any(getattr(r, name) for r in stream.requests)
    ]
    theirs = await outcome(stream.without(*rules), plain)
    if mine == theirs:
        return " and ".join(rules)
    if await _is_at_once(stream, mine, theirs):
        return " and ".join([*rules, "at once"])
    return "tunnel" if await _is_tunnel(stream, mine) else "unexplained"


async def _is_at_once(stream: Stream, mine: Outcome, theirs: Outcome) -> bool:
    """Whether we differ by the fast path alone, and by answers before the refusal alone."""
    without = await outcome(stream, ours_without_fast_path)
    is_refused = mine.is_closed and theirs.is_closed and b" 400 Bad Request" in theirs.written
    answers, refusal, _ = theirs.written.partition(b"HTTP/1.1 400")
    is_more = mine.written.startswith(answers) and mine.written.count(refusal) == 1
    return is_refused and without == theirs and is_more


async def _is_tunnel(stream: Stream, mine: Outcome) -> bool:
    """Whether a CONNECT is refused as uvicorn refuses a head whose last byte is none of a head."""
    refused = [_refused(each) if each.method == b"CONNECT" else each for each in stream.requests]
    without = replace(stream, requests=tuple(refused)).without("offer", "trailers")
    return await outcome(without, plain) == mine


def _refused(request: Request) -> Request:
    """The same as long, and invalid from the end of its head on."""
    return replace(request, method=b"OPTIONS", end_of_head=request.end[:-1] + b"\0")


def verdicts(first: int, count: int) -> dict[int, str]:
    """The verdict on each of so many streams."""

    async def every() -> dict[int, str]:
        return {seed: await verdict(a_stream(seed)) for seed in range(first, first + count)}

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return asyncio.run(every())


def on_all_cores(first: int, count: int, workers: int = 0) -> tuple[Counter[str], list[int]]:
    """How many streams had which verdict, and those that nothing explains."""
    begins = range(first, first + count, CHUNK)
    sizes = [min(CHUNK, first + count - begin) for begin in begins]
    counts: Counter[str] = Counter()
    unexplained = []
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        for found in pool.map(verdicts, begins, sizes):
            counts.update(found.values())
            unexplained += [seed for seed, said in found.items() if said == "unexplained"]
    return counts, unexplained


def show(seed: int) -> None:
    """Print a stream and what became of it."""

    async def both() -> None:
        stream = a_stream(seed)
        print("pieces:", *stream.pieces(), sep="\n  ")
        for name, server in (("ours", ours), ("uvicorn", plain)):
            found = await outcome(stream, server)
            print(f"{name}: closed {found.is_closed}, {len(found.seen)} seen\n  {found.written!r}")
            print(*(f"  {each!r:.300}" for each in found.seen), sep="\n")
        print(await verdict(stream))

    asyncio.run(both())


def main() -> int:
    """The command; 1 where a difference is not explained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="show this one")
    parser.add_argument("--first", type=int, default=0, help="the first stream")
    parser.add_argument("--streams", type=int, default=1000, help="how many")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0: one a core")
    options = parser.parse_args()
    if options.seed is not None:
        show(options.seed)
        return 0
    counts, unexplained = on_all_cores(options.first, options.streams, options.workers)
    print(f"{options.streams} streams: {dict(counts.most_common())}")
    for seed in unexplained[:20]:
        print(f"unexplained: python scripts/streams/run.py --seed {seed}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
