"""A training under way on disk: arrays and JSON, so that it can go on after a stop."""

import hashlib
import json
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from app.arrays import Features, Truth

Tensors: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Training:
    """Where a training stands: what resuming needs, and the best so far."""

    epoch: int = 0
    step: int = 0
    best_figure: float = -np.inf
    best_epoch: int = 0
    seconds: float = 0.0
    """By the clock, over all runs."""
    losses: list[float] = field(default_factory=list)
    """Of the batches of the epoch under way."""
    history: list[dict[str, float]] = field(default_factory=list)
    best: Tensors = field(default_factory=dict)
    weights: Tensors = field(default_factory=dict)
    optimizer: Tensors = field(default_factory=dict)
    random: Tensors = field(default_factory=dict)
    """The generator's state within an epoch; empty between two: each seeds it anew."""


SECONDS_BETWEEN = 30.0
TIMES_A_WRITE = 50
"""So many times as long as the last write took passes before the next: 2 % of the time at most."""
PLAIN = ("epoch", "step", "best_figure", "best_epoch", "seconds", "losses", "history")
GROUPS = ("best", "weights", "optimizer", "random")


class CheckpointWriter:
    """Records the state of a training after each epoch, and writes it every half minute at most.

    Writing after every short epoch would take longer than the epoch; a stop by Ctrl-C writes the
    last epoch in any case, so that only a crash costs the epochs of the last half minute. A longer
    epoch is recorded and written within it.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._recorded: Training | None = None
        self._saved_at = time.monotonic()
        self._pause = SECONDS_BETWEEN

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        return self.folder is not None and time.monotonic() - self._saved_at > self._pause

    def record(self, training: Training, network: Any, optimizer: Any) -> None:
        """Keep a copy of everything that resuming needs, on disk if it is time to."""
        if self.folder is None:
            return
        self._recorded = replace(
            training,
            losses=list(training.losses),
            history=list(training.history),
            weights=copies_of(network.state_dict()),
            optimizer=optimizer.tensors(),
            random={"state": torch.get_rng_state()} if training.losses else {},
        )
        if self.is_due:
            self.save()

    def finish(self, training: Training) -> None:
        """Write the best weights only: a resumed command passes over this training."""
        self._recorded = replace(training, weights={}, optimizer={}, random={})
        self.save()

    def save(self) -> None:
        """Write what was recorded last."""
        if self.folder is not None and self._recorded is not None:
            began = time.monotonic()
            save(self.folder, self._recorded)
            self._saved_at = time.monotonic()
            self._pause = max(SECONDS_BETWEEN, TIMES_A_WRITE * (self._saved_at - began))


def save(folder: Path, training: Training) -> None:
    """Write beside, then rename: a stop while writing leaves the former checkpoint whole."""
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    for group in GROUPS:
        arrays: Any = arrays_of(getattr(training, group))
        np.savez(beside / f"{group}.npz", **arrays)
    plain = {name: getattr(training, name) for name in PLAIN}
    (beside / "training.json").write_text(json.dumps(plain))
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)


def load(folder: Path) -> Training | None:
    """The checkpoint of a folder; None where there is none."""
    if not (folder / "training.json").exists():
        return None
    training = Training(**json.loads((folder / "training.json").read_text()))
    for group in GROUPS:
        with np.load(folder / f"{group}.npz", allow_pickle=False) as arrays:
            tensors = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        setattr(training, group, tensors)
    return training


def fingerprint(settings: dict[str, Any], features: Features, truth: Truth, seed: int) -> str:
    """A name for this very training: same data, settings and seed, same name."""
    digest = hashlib.sha256(json.dumps([settings, seed], sort_keys=True).encode())
    for matrix in (features, truth):
        for array in (matrix.indptr, matrix.indices, matrix.data):
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


def arrays_of(tensors: Tensors) -> dict[str, NDArray[Any]]:
    """Tensors as arrays in memory of the processor."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def copies_of(tensors: Tensors) -> Tensors:
    """Tensors that do not change when training goes on."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}
