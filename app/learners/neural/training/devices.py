"""Where the arithmetic runs: device, threads and precision."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from app.errors import InvalidRequestError

DEVICES = ("auto", "cpu", "cuda", "mps")


def device_for(name: str) -> Any:
    """The torch device behind `auto|cpu|cuda|mps`; an error where it is not there.

    `auto` takes CUDA, then Apple's, then the processor. A numbered device (`cuda:1`) is fine.
    """
    if name.partition(":")[0] not in (*DEVICES, "meta"):
        raise InvalidRequestError(f"device: accepted: {', '.join(DEVICES)}")
    if name == "auto":
        name = "cuda" if _has("cuda") else "mps" if _has("mps") else "cpu"
    if not _has(name.partition(":")[0]):
        raise InvalidRequestError(f"device {name} is not available on this machine; cpu always is")
    return torch.device(name)


def _has(name: str) -> bool:
    present = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    return bool(present.get(name, lambda: True)())


def bound_threads(threads: int) -> None:
    """From now on so many threads. Not undone: requests of a server run side by side."""
    if torch.get_num_threads() != max(threads, 1):
        torch.set_num_threads(max(threads, 1))


@contextmanager
def bounded_threads(threads: int) -> Iterator[None]:
    """Arithmetic on so many threads, so that several workers on a machine do not fight."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(threads, 1))
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def reproducible(device: Any) -> Iterator[None]:
    """Deterministic algorithms on CPU, and the caller's random state left as it was.

    A GPU is left alone: some of its sums have no deterministic form, and none is promised.
    """
    before = torch.are_deterministic_algorithms_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory
    with torch.random.fork_rng(devices=[]):
        torch.use_deterministic_algorithms(before or device.type == "cpu")
        torch.utils.deterministic.fill_uninitialized_memory = False  # a debugging aid, and slow
        torch.set_flush_denormal(True)  # Adam's tiny second moments are slow otherwise
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before)
            torch.utils.deterministic.fill_uninitialized_memory = filled
            torch.set_flush_denormal(False)


def mixed_precision(device: Any, *, on_cpu: bool = False) -> AbstractContextManager[Any]:
    """Half-precision arithmetic on CUDA, where it is fast and safe; full precision elsewhere.

    A processor multiplies in bfloat16 where that is asked for (`on_cpu`).
    """
    if device.type == "cpu" and on_cpu:
        return torch.autocast("cpu", dtype=torch.bfloat16)
    if device.type != "cuda":
        return nullcontext()
    return torch.autocast("cuda", dtype=_half_type())


def loss_scaler(device: Any) -> Any:
    """Keeps small float16 gradients from vanishing; does nothing where they cannot."""
    enabled = device.type == "cuda" and _half_type() == torch.float16
    return torch.amp.GradScaler(device.type if enabled else "cpu", enabled=enabled)


def _half_type() -> Any:
    return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
