"""World: processes that take turns, faults and the clock, all of them decided by one seed.

A process is a thread, and one thread runs at a time. Before each of its system calls the seed
decides: it goes on, another process goes on first, the call fails, the process is killed, or the
power is cut. The same seed gives the same run.
"""

import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from random import Random
from threading import get_ident
from typing import Any

from simulation.disk import Disk, Node

BEGIN = 1_800_000_000.0
MOST_STEPS = 20_000
FAULTS = {
    "open": (errno.EMFILE, errno.EIO),
    "create": (errno.EMFILE, errno.ENOSPC, errno.EIO),
    "mkdir": (errno.ENOSPC, errno.EIO),
    "link": (errno.ENOSPC, errno.EIO),
    "rename": (errno.ENOSPC, errno.EIO),
    "write": (errno.ENOSPC, errno.EIO),
    "read": (errno.EIO,),
    "fsync": (errno.EIO, errno.ENOSPC),
    "unlink": (errno.EIO,),
    "list": (errno.EIO, errno.EMFILE),
    "stat": (errno.EIO,),
    "statement": (errno.EIO,),
}


class Violation(BaseException):
    """A promise was broken; no code under test may catch it."""


class Crash(BaseException):
    """The process is gone: nothing that it still tries to do happens."""


@dataclass(frozen=True)
class Weather:
    """How often what goes wrong, a system call."""

    fault: float = 0.0
    kill: float = 0.0
    power_cut: float = 0.0
    clock_jump: float = 0.0
    delay: float = 0.0
    """A process is not run for a while."""
    switch: float = 0.3
    short: float = 0.0
    """The share of reads and writes that move fewer bytes than were asked for."""

    @classmethod
    def of(cls, random: Random) -> "Weather":
        """Some weather: most runs have one or two kinds of trouble."""
        pick = random.choice
        return cls(
            fault=pick((0.0, 0.0, 0.01, 0.05)),
            kill=pick((0.0, 0.005, 0.02)),
            power_cut=pick((0.0, 0.005, 0.02)),
            clock_jump=pick((0.0, 0.0, 0.02)),
            delay=pick((0.0, 0.02)),
            switch=pick((0.05, 0.3, 0.7)),
            short=pick((0.0, 0.2)),
        )


CALM = Weather(switch=0.3)


@dataclass(eq=False)
class Process:
    """A simulated process: what it has open, and how its operation under way fares."""

    world: "World"
    name: str
    work: Callable[["Process"], None]
    skew: float = 0.0
    """How far its own clock is ahead of the others."""
    is_dead: bool = False
    is_over: bool = False
    had_fault: bool = False
    """Whether a call of the operation under way was made to fail."""
    open: dict[int, Node] = field(default_factory=dict)
    files: list[FileIO] = field(default_factory=list)
    turn: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.turn.acquire()

    def run(self) -> None:
        """The thread's work: from its first turn to its end."""
        self.turn.acquire()
        self.world.thread = get_ident()
        try:
            if not self.is_dead:
                self.work(self)
        except Crash:
            pass
        except Violation as broken:
            self.world.fail(str(broken))
        except BaseException as error:
            self.world.fail(f"{self.name}: {type(error).__name__}: {error}", error)
        finally:
            self._let_go()
            self.is_over = True
            self.world.pass_on()

    def _let_go(self) -> None:
        """What the kernel does at the end of a process; files have no say in it."""
        for file in self.files:
            with suppress(OSError):
                FileIO.close(file)
        for descriptor in self.open:
            with suppress(OSError):
                self.world.close(descriptor)
        self.open.clear()


class World:
    """One run: the disk, the clock, the processes."""

    def __init__(self, seed: int, root: Path) -> None:
        self.random = Random(seed)
        self.disk = Disk(root)
        self.now, self.latest, self.uptime = BEGIN, BEGIN, 0.0
        self.weather = CALM
        self.running: Process | None = None
        self.thread = 0
        """The thread of the process that runs."""
        self.failure, self.cause = "", None
        self.steps = 0
        self.trace: list[str] = []
        self.close: Callable[[int], None] = os.close
        self._processes: list[Process] = []
        self._main = threading.Lock()
        self._main.acquire()
        self._is_cut = False

    def run(self, works: dict[str, Callable[[Process], None]], weather: Weather) -> None:
        """Let processes work until all have ended; then the power is cut, where that was due."""
        self.weather, self._is_cut, self.steps = weather, False, 0
        self._processes = [Process(self, name, work) for name, work in works.items()]
        for process in self._processes:
            process.skew = self.random.choice((0.0, 0.0, -40.0, 45.0))
        threads = [threading.Thread(target=process.run) for process in self._processes]
        for thread in threads:
            thread.start()
        self.pass_on()
        self._main.acquire()
        for thread in threads:
            thread.join()
        self.running, self.thread = None, 0
        if self.failure:
            raise Violation(self.failure) from self.cause
        if self._is_cut:
            self.trace.append("power cut")
            self.disk.cut_power(self.random)

    def pass_on(self) -> None:
        """Give the turn to a process that has not ended; to the main thread after the last."""
        left = [process for process in self._processes if not process.is_over]
        self.running = self.random.choice(left) if left else None
        (self.running.turn if self.running else self._main).release()

    def fail(self, what: str, cause: BaseException | None = None) -> None:
        """A promise was broken: everything ends."""
        self.failure, self.cause = self.failure or what, self.cause or cause  # type: ignore[assignment]
        for process in self._processes:
            process.is_dead = True

    def step(self, call: str, what: str = "") -> None:
        """The running process is about to make a system call."""
        process = self._alive()
        self.trace.append(f"{process.name} {call} {what}")
        self._count_step()
        self._pass(self.random.random() * 1e-3)
        self._change_weather(process)
        if self.random.random() < self.weather.switch:
            self.switch()
        codes = FAULTS.get(call)
        if codes and self.weather.fault and self.random.random() < self.weather.fault:
            process.had_fault = True
            code = self.random.choice(codes)
            self.trace.append(f"{process.name} fails: {errno.errorcode[code]}")
            raise OSError(code, os.strerror(code))

    def switch(self) -> None:
        """Let another process go on, if there is one."""
        process = self._alive()
        others = [p for p in self._processes if not p.is_over and p is not process]
        if others:
            self.running = self.random.choice(others)
            self.running.turn.release()
            process.turn.acquire()
            self.thread = get_ident()
            self._alive()

    def shortened(self, size: int) -> int:
        """How many of so many bytes a read or write moves."""
        if size > 1 and self.weather.short and self.random.random() < self.weather.short:
            return self.random.randint(1, size - 1)
        return size

    def sleep(self, seconds: float) -> None:
        """Time passes, and others go on."""
        self._count_step()
        self._pass(seconds)
        self.switch()

    def _count_step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Violation("the processes do not come to an end")

    def _pass(self, seconds: float) -> None:
        self.uptime += seconds
        self._set_clock(self.now + seconds)

    def _set_clock(self, now: float) -> None:
        self.now, self.latest = now, max(self.latest, now)

    def _alive(self) -> Process:
        process = self.running
        if process is None or process.is_dead:
            raise Crash
        return process

    def _change_weather(self, process: Process) -> None:
        weather, chance = self.weather, self.random.random
        if weather.clock_jump and chance() < weather.clock_jump:
            jump = self.random.choice((-7200.0, -30.0, 30.0, 90.0, 7200.0, 90_000.0))
            self._set_clock(self.now + jump)
        if weather.delay and chance() < weather.delay:
            self.sleep(self.random.choice((1.5, 12.0, 40.0)))
        if weather.kill and chance() < weather.kill:
            process.is_dead = True
            self.trace.append(f"{process.name} is killed")
            raise Crash
        if weather.power_cut and chance() < weather.power_cut:
            self._is_cut = True
            for each in self._processes:
                each.is_dead = True
            raise Crash
