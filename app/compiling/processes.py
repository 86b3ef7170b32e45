"""Compilation: all kernels compiled into the cache, by a process on each of two cores."""

import os
import subprocess
import sys
from fcntl import LOCK_EX, LOCK_NB, flock
from time import sleep
from typing import IO, Self

from app.compiling.completeness import is_complete, is_wanted, mark_complete, marker
from app.kernel_cache import GIVEN, PROJECT, cache_folder
from app.kernels import KERNELS, SETTING
from app.progress import Progress, silent

FIRST_CORE = ("text.tokens", "vocabulary.hashing", "text.tfidf", "tree.beam_search")
"""About half of the work; the other kernels are the other half."""
STAGE = "compiling kernels, once"
LOOK_SECONDS = 0.1


def compile_kernels(progress: Progress = silent) -> None:
    """Have all kernels compiled, by whom ever; nothing where they are, or cannot be kept.

    What fails here fails again, with its reason, where a kernel is used.
    """
    while is_wanted():
        compilation = Compilation.begun()
        if compilation is None:
            progress(f"{STAGE} · by another process", 0, len(KERNELS))
            sleep(LOOK_SECONDS)
            continue
        with compilation:
            while compilation.is_running:
                progress(STAGE, compilation.n_compiled(), len(KERNELS))
                sleep(LOOK_SECONDS)
            if compilation.failure() is not None:
                return
        progress(STAGE, len(KERNELS), len(KERNELS))


class Compilation:
    """Processes that compile; at most one compilation of a cache is under way at a time.

    The lock is theirs, too: it is held for as long as any of them lives.
    """

    def __init__(self, lock: IO[str], niceness: int) -> None:
        self._lock, self._n_compiled = lock, 0
        others = tuple(name for name in KERNELS if name not in FIRST_CORE)
        shares = [FIRST_CORE, others] if (os.cpu_count() or 1) > 1 else [KERNELS]
        self._processes = [self._process(names, niceness) for names in shares]

    @classmethod
    def begun(cls, niceness: int = 0) -> Self | None:
        """A compilation that has just begun; None where another one is under way."""
        cache_folder().mkdir(parents=True, exist_ok=True)
        lock = marker().with_suffix(".lock").open("a")
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return cls(lock, niceness)

    @property
    def is_running(self) -> bool:
        """Whether any process is still compiling."""
        return any(process.poll() is None for process in self._processes)

    def n_compiled(self) -> int:
        """How many kernels are compiled so far."""
        for process in self._processes:
            self._n_compiled += len((process.stdout.read() or b"").split()) if process.stdout else 0
        return self._n_compiled

    def failure(self) -> str | None:
        """Why the processes that have ended did not compile everything; None where they did."""
        for process in self._processes:
            if process.returncode:
                said = process.stderr.read().decode(errors="replace") if process.stderr else ""
                last = said.strip().rpartition("\n")[2]
                return f"exit code {process.returncode}: {last or 'nothing was said'}"
        if not is_complete():
            mark_complete()
        return None

    def end(self) -> None:
        """Kill what still runs, and let others compile."""
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _process(self, names: tuple[str, ...], niceness: int) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = {"PYTHONPATH": path, GIVEN: str(cache_folder()), SETTING: "auto"}
        process = subprocess.Popen(  # noqa: S603
            # -P: whatever is in the working folder, `app` is ours.
            [sys.executable, "-P", "-m", "app.compiling", str(niceness), *names],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(self._lock.fileno(),),
            start_new_session=True,  # Ctrl-C is for whoever waits, who then ends this
        )
        if process.stdout is not None:
            os.set_blocking(process.stdout.fileno(), False)
        return process
