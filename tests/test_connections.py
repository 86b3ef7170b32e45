"""What is written on a connection goes out in order, in as few system calls as can be."""

import asyncio
from typing import Any

from app.connections import MOST_WAITING, JoinedWrites


class Wire:
    """A transport that notes what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.done


def test_all_of_a_turn_goes_out_together_and_nothing_waits_longer() -> None:
    large = b"x" * (MOST_WAITING + 1)

    async def written() -> list[Any]:
        wire = Wire()
        joined = JoinedWrites(wire, asyncio.get_running_loop())
        joined.write(b"head ")
        joined.write(b"body")
        assert wire.done == []
        await asyncio.sleep(0)
        joined.write(b"head")
        joined.write(large)
        assert wire.done == [b"head body", b"head" + large]
        joined.write(b"last words")
        joined.close()
        joined.write(b"too late")
        await asyncio.sleep(0)
        return wire.done

    found = asyncio.run(written())
    assert found == [b"head body", b"head" + large, b"last words", "closed"]
