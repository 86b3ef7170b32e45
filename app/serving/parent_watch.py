"""What a process does when the one that started it is gone, however that came."""

import threading
from collections.abc import Callable
from multiprocessing import parent_process


def when_parent_ends(act: Callable[[], object]) -> None:
    """Call `act` in a thread as soon as the process that started this one has ended.

    Only that process holds the other end of a pipe open, so that even its SIGKILL is noticed. (The
    parent's id would not tell: processes are forked by a helper, which lives as long as they do.)
    """
    parent = parent_process()
    if parent is None:
        raise RuntimeError("this process was not started by multiprocessing")

    def wait() -> None:
        parent.join()
        act()

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()
