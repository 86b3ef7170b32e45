"""The training loop of every network: epochs, early stopping, checkpoints, Ctrl-C."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.learners.neural.layers.network import Network
from app.learners.neural.training import checkpoints
from app.learners.neural.training.batches import scoring_batches, targets_of, training_batches
from app.learners.neural.training.checkpoints import CheckpointWriter, Training
from app.learners.neural.training.clock import Clock
from app.learners.neural.training.devices import loss_scaler, mixed_precision
from app.learners.neural.training.losses import Loss, loss_for
from app.learners.neural.training.optimizers import Optimizer
from app.learners.neural.training.schedules import rate_factor
from app.learners.neural.training.settings import TrainingSettings
from app.learners.neural.training.thread_choice import ThreadChoice
from app.learners.neural.training.validation import validation_figure
from app.progress import Progress

Collate: TypeAlias = Callable[[Features, NDArray[np.int64]], Any]

GPU_BATCH_SIZE = 256  # documents scored at once where there is no cache to fit


@dataclass(frozen=True, slots=True)
class NetworkTraining:
    """What one training works on."""

    network: Network
    collate: Collate
    train: tuple[Features, Truth]
    valid: tuple[Features, Truth] | None
    settings: TrainingSettings
    device: Any
    seed: int
    progress: Progress
    name: str
    folder: Path | None = None

    @property
    def steps_per_epoch(self) -> int:
        """Batches an epoch."""
        return -(-self.train[0].shape[0] // self.settings.batch_size)


def train(job: NetworkTraining) -> Training:
    """Train until the validation metric no longer improves; the network ends with its best weights.

    Ctrl-C ends the training with the best so far, once there is any. Each epoch draws from a
    generator of its own, so that a resumed training takes the same way as one that ran through.
    """
    optimizer = Optimizer(job.network, job.settings, job.device)
    training = _start(job, optimizer)
    checkpoint = CheckpointWriter(job.folder)
    clock = Clock(job.settings.minutes, training.seconds)
    tools = _Tools(
        optimizer,
        loss_for(job.settings.loss, job.train[1], smoothing=job.settings.label_smoothing),
        loss_scaler(job.device),
        clock,
        checkpoint,
        ThreadChoice(job.settings.threads, os.cpu_count() or 1, torch.set_num_threads),
    )
    try:
        while not (_is_finished(training, job.settings) or (clock.is_over and training.best)):
            _judge(job, training, _epoch(job, training, tools))
            training.seconds = clock.seconds()
            checkpoint.record(training, job.network, optimizer)
        checkpoint.finish(training)
    except KeyboardInterrupt:
        checkpoint.save()
        if not training.best:
            raise
    job.network.load_state_dict(training.best)
    return training


def network_scores(
    network: Network, collate: Collate, features: Features, *, device: Any
) -> Scores:
    """Logits of every document, in batches of similar length, without gradients."""
    network.eval()
    batch_size = network.scoring_batch_size if device.type == "cpu" else GPU_BATCH_SIZE
    pieces: list[Any] = []
    order: list[Any] = []
    with torch.inference_mode():
        for rows in scoring_batches(features, batch_size):
            with mixed_precision(device):
                logits = network(collate(features, rows).to(device))
            pieces.append(logits.float().cpu().numpy())
            order.append(rows)
    scores = np.empty((features.shape[0], network.n_labels), np.float32)
    if order:
        scores[np.concatenate(order)] = np.concatenate(pieces)
    return scores


def _start(job: NetworkTraining, optimizer: Optimizer) -> Training:
    training = checkpoints.load(job.folder) if job.folder else None
    if training is None:
        return Training()
    if training.weights:  # there are none where nothing is left to do
        job.network.load_state_dict(training.weights)
        optimizer.restore(training.optimizer)
    return training


def _is_finished(training: Training, settings: TrainingSettings) -> bool:
    waited = training.epoch - training.best_epoch
    return training.epoch >= settings.epochs or waited >= settings.patience


class _Tools(NamedTuple):
    """What the steps of a training share."""

    optimizer: Optimizer
    loss: Loss
    scaler: Any
    clock: Clock
    checkpoint: CheckpointWriter
    threads: ThreadChoice


def _epoch(job: NetworkTraining, training: Training, tools: _Tools) -> float:
    """One pass over the training documents, or what is left of it; the mean loss.

    It ends before its end where the minutes are over.
    """
    rng = np.random.default_rng([job.seed, training.epoch])
    batches = training_batches(job.train[0], job.settings.batch_size, rng)
    if training.random:
        torch.set_rng_state(training.random["state"])
    else:
        torch.manual_seed(job.seed * 100_003 + training.epoch)
    training.random = {}
    job.network.train()
    for rows in batches[len(training.losses) :]:
        _set_rate(job, training.step, tools)
        training.losses.append(tools.threads.run(partial(_step, job, rows, tools)))
        training.step += 1
        training.seconds = tools.clock.seconds()
        job.progress(_stage(job, training, training.losses), *_done(job, training))
        if tools.clock.is_over:
            break
        if tools.checkpoint.is_due:
            tools.checkpoint.record(training, job.network, tools.optimizer)
    mean_loss = float(np.mean(training.losses))
    training.epoch, training.losses = training.epoch + 1, []
    return mean_loss


def _step(job: NetworkTraining, rows: NDArray[np.int64], tools: _Tools) -> float:
    features, truth = job.train
    tools.optimizer.zero_grad()
    batch, targets = job.collate(features, rows), targets_of(truth, rows)
    with mixed_precision(job.device, on_cpu=job.settings.is_half_precision()):
        value = job.network.training_loss(batch.to(job.device), targets.to(job.device), tools.loss)
    tools.scaler.scale(value).backward()
    tools.optimizer.step(tools.scaler, job.settings.clip)
    return float(value.detach())


def _set_rate(job: NetworkTraining, step: int, tools: _Tools) -> None:
    """The rate by the steps done, or by the clock where that is further on."""
    settings, total = job.settings, _total(job)
    step = max(step, int(tools.clock.share() * total))
    tools.optimizer.set_rate(rate_factor(settings.schedule, step, total, warmup=settings.warmup))


def _judge(job: NetworkTraining, training: Training, mean_loss: float) -> None:
    """Keep the weights if they are the best so far; without validation documents the last are."""
    training.history.append({"loss": mean_loss})
    figure = float(training.epoch)
    if job.valid is not None:
        scores = network_scores(job.network, job.collate, job.valid[0], device=job.device)
        figure = validation_figure(job.settings.metric, scores, job.valid[1])
        training.history[-1][job.settings.metric] = figure
    if figure > training.best_figure or job.settings.keep == "last":
        training.best_figure, training.best_epoch = figure, training.epoch
        training.best = checkpoints.copies_of(job.network.state_dict())
    job.progress(_stage(job, training, [mean_loss]), *_done(job, training))


def _stage(job: NetworkTraining, training: Training, losses: list[float]) -> str:
    """`kim-cnn · epoch 3 · loss 0.0123 · best micro-f1 0.871`: the name comes first, and stays."""
    recent = float(np.mean(losses[-20:]))
    is_judged = job.valid is not None and training.best
    kept = "last" if job.settings.keep == "last" else "best"
    figure = f" · {kept} {job.settings.metric} {training.best_figure:.3f}" if is_judged else ""
    return f"{job.name} · epoch {training.epoch + 1} · loss {recent:.4f}{figure}"


def _done(job: NetworkTraining, training: Training) -> tuple[int, int]:
    """How far a training is, of how much: in steps, or in seconds where the clock ends it."""
    if job.settings.minutes:
        return round(training.seconds), round(job.settings.minutes * 60)
    return training.step, _total(job)


def _total(job: NetworkTraining) -> int:
    return job.steps_per_epoch * job.settings.epochs
