"""What is written on a connection goes out in order, in as few system calls as can be."""

import asyncio
from typing import Any

from app.connections import JoinedWrites


class Wire:
    """A transport that notes what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def writelines(self, pieces: tuple[bytes, ...]) -> None:
        self.done.append(b"".join(pieces))

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.done


def test_head_and_body_go_out_together_and_nothing_waits_longer_than_a_turn() -> None:
    async def written() -> list[Any]:
        wire = Wire()
        joined = JoinedWrites(wire, asyncio.get_running_loop())
        joined.write(b"head ")
        joined.write(b"body")
        assert wire.done == [b"head body"]
        joined.write(b"head of a stream")
        assert len(wire.done) == 1
        await asyncio.sleep(0)
        joined.write(b"last words")
        joined.close()
        assert joined.is_closing()
        await asyncio.sleep(0)
        return wire.done

    assert asyncio.run(written()) == [b"head body", b"head of a stream", b"last words", "closed"]
