"""KernelSwitch: plain kernels answer until compiled ones are ready, then those take over."""

import logging
from time import monotonic

from app.compiling.completeness import is_complete, is_wanted
from app.compiling.processes import Compilation
from app.errors import errno_text
from app.kernels import KERNELS, load_compiled, postpone

NICENESS = 10  # answers come first

log = logging.getLogger("labelserve.kernels")


class KernelSwitch:
    """Which kernels a running service uses; one thread calls `begin` and `poll`.

    Of several services or workers that share a cache, one compiles and all switch.
    """

    def __init__(self) -> None:
        self.is_pending = False
        self._compilation: Compilation | None = None
        self._may_compile = True
        self._since = 0.0

    def begin(self) -> None:
        """Use plain kernels where compiled ones would be waited for."""
        if is_wanted():
            postpone(True)
            self.is_pending, self._since = True, monotonic()
            log.info("kernels are being compiled, once; plain ones answer meanwhile")

    def poll(self) -> bool:
        """Go on with compiling; whether compiled kernels have taken over just now."""
        if not self.is_pending:
            return False
        if self._compilation is not None:
            self._check(self._compilation)
        elif is_complete():
            return self._take_over()
        elif self._may_compile:
            self._begin_to_compile()
        return False

    def end(self) -> None:
        """Stop compiling, and leave the choice of kernels to the setting again."""
        self._may_compile = False
        self._close()
        if self.is_pending:
            self.is_pending = False
            postpone(False)

    def _begin_to_compile(self) -> None:
        try:
            self._compilation = Compilation.begun(NICENESS)
        except OSError as error:
            self._give_up(errno_text(error))

    def _check(self, compilation: Compilation) -> None:
        if compilation.is_running:
            compilation.n_compiled()  # so that no pipe runs full
            return
        failure = compilation.failure()
        if failure is not None:
            self._give_up(failure)
        self._close()

    def _give_up(self, why: str) -> None:
        self._may_compile = False
        log.error("kernels could not be compiled, plain ones go on answering: %s", why)

    def _take_over(self) -> bool:
        self.is_pending = False
        try:
            load_compiled(KERNELS)
        except Exception as error:  # whatever a compiler may raise: there are plain ones
            log.error("compiled kernels cannot be loaded: %s", type(error).__name__)
            return False
        postpone(False)
        log.info("compiled kernels took over after %.1f s", monotonic() - self._since)
        return True

    def _close(self) -> None:
        # A compiler that was started this very moment ends by itself, when nobody reads its output.
        compilation, self._compilation = self._compilation, None
        if compilation is not None:
            compilation.end()
