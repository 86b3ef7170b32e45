"""The simulated clock and random numbers, where code under test asks for them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from threading import get_ident
from types import SimpleNamespace
from typing import Any

from simulation.world import World

from app.artifacts import folders, store
from app.serving import keys, usage_file
from app.serving.jobs import uploads
from app.serving.jobs.upkeep import retention


@contextmanager
def simulated_clock(world: World) -> Iterator[None]:
    """Time and tokens come from the world while the block lasts."""
    patches = _patches(world)
    kept = [(module, name, getattr(module, name)) for module, name, _ in patches]
    try:
        for module, name, value in patches:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


def _patches(world: World) -> list[tuple[Any, str, Any]]:
    def now() -> float:
        return world.now

    def monotonic() -> float:
        return world.uptime

    class Moment(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.fromtimestamp(world.now, tz or UTC)

    times = SimpleNamespace(time=now, monotonic=monotonic, sleep=world.sleep)
    modules = [(module, "time", times) for module in (folders, uploads, retention)]
    dates = [(module, "datetime", Moment) for module in (store, keys)]
    return [
        *modules,
        *dates,
        (keys, "monotonic", monotonic),
        (usage_file, "monotonic", monotonic),
        (usage_file, "sleep", world.sleep),
        (secrets, "token_hex", _token(world, secrets.token_hex)),
        (secrets, "token_urlsafe", _token(world, secrets.token_urlsafe)),
    ]


def _token(world: World, real: Any) -> Any:
    def token(size: int = 32) -> str:
        if get_ident() != world.thread:
            return str(real(size))
        return f"{world.random.getrandbits(8 * size):0{2 * size}x}"

    return token
