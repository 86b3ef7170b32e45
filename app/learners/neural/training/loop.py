"""The training loop of every network: epochs, early stopping, checkpoints, Ctrl-C."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.learners.neural.layers.network import Network
from app.learners.neural.training import checkpoints
from app.learners.neural.training.batches import scoring_batches, targets_of, training_batches
from app.learners.neural.training.checkpoints import CheckpointWriter, Training
from app.learners.neural.training.devices import loss_scaler, mixed_precision
from app.learners.neural.training.losses import Loss, loss_for
from app.learners.neural.training.optimizers import Optimizer
from app.learners.neural.training.schedules import rate_factor
from app.learners.neural.training.settings import TrainingSettings
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
    loss = loss_for(job.settings.loss, job.train[1], smoothing=job.settings.label_smoothing)
    scaler = loss_scaler(job.device)
    try:
        while not _is_finished(training, job.settings):
            mean_loss = _epoch(job, training, optimizer, loss, scaler)
            _judge(job, training, mean_loss)
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


def _epoch(
    job: NetworkTraining, training: Training, optimizer: Optimizer, loss: Loss, scaler: Any
) -> float:
    """One pass over the training documents; the mean loss."""
    torch.manual_seed(job.seed * 100_003 + training.epoch)
    rng = np.random.default_rng([job.seed, training.epoch])
    job.network.train()
    losses = []
    batches = training_batches(job.train[0], job.settings.batch_size, rng)
    for rows in batches:
        _set_rate(optimizer, job, training.step)
        losses.append(_step(job, rows, optimizer, loss, scaler))
        training.step += 1
        job.progress(_stage(job, training, losses), training.step, _total(job))
    training.epoch += 1
    return float(np.mean(losses))


def _step(
    job: NetworkTraining, rows: NDArray[np.int64], optimizer: Optimizer, loss: Loss, scaler: Any
) -> float:
    features, truth = job.train
    optimizer.zero_grad()
    batch, targets = job.collate(features, rows), targets_of(truth, rows)
    with mixed_precision(job.device):
        value = job.network.training_loss(batch.to(job.device), targets.to(job.device), loss)
    scaler.scale(value).backward()
    optimizer.step(scaler, job.settings.clip)
    return float(value.detach())


def _set_rate(optimizer: Optimizer, job: NetworkTraining, step: int) -> None:
    settings = job.settings
    factor = rate_factor(settings.schedule, step, _total(job), warmup=settings.warmup)
    optimizer.set_rate(factor)


def _judge(job: NetworkTraining, training: Training, mean_loss: float) -> None:
    """Keep the weights if they are the best so far; without validation documents the last are."""
    training.history.append({"loss": mean_loss})
    figure = float(training.epoch)
    if job.valid is not None:
        scores = network_scores(job.network, job.collate, job.valid[0], device=job.device)
        figure = validation_figure(job.settings.metric, scores, job.valid[1])
        training.history[-1][job.settings.metric] = figure
    if figure > training.best_figure:
        training.best_figure, training.best_epoch = figure, training.epoch
        training.best = checkpoints.copies_of(job.network.state_dict())
    job.progress(_stage(job, training, [mean_loss]), training.step, _total(job))


def _stage(job: NetworkTraining, training: Training, losses: list[float]) -> str:
    """`kim-cnn · epoch 3 · loss 0.0123 · best micro-f1 0.871`: the name comes first, and stays."""
    recent = float(np.mean(losses[-20:]))
    is_judged = job.valid is not None and training.best
    figure = f" · best {job.settings.metric} {training.best_figure:.3f}" if is_judged else ""
    return f"{job.name} · epoch {training.epoch + 1} · loss {recent:.4f}{figure}"


def _total(job: NetworkTraining) -> int:
    return job.steps_per_epoch * job.settings.epochs
