"""A step of the transformer's training beside a plain torch loop with the same encoder.

Both train on the same batches of Reuters documents (the first 128 tokens), in turn, round after
round; the figures are CPU seconds on one thread, the median over the rounds of each batch but the
first, added up. `--scores` compares what it takes to score documents in single precision and in
eight bits, `--loss` what that changes in quality, on training documents that were kept aside.
"""

import argparse
import gzip
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.environment import data_folder

from app.arrays import Features, Truth
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.neural.layers.dropout import ByteDropout
from app.learners.neural.layers.encoder import Encoder
from app.learners.neural.pretrained import read_architecture, read_weights
from app.learners.neural.training.batches import training_batches
from app.learners.neural.training.validation import validation_figure
from app.learners.neural.transformer import Transformer
from app.vectorizers.wordpieces import Wordpieces

BATCH, SEED = 16, 0
DOCUMENTS, LEARNT, ASIDE = 7770, 1000, 600


def main() -> None:
    """Print the seconds of a step, ours and plain, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", help="a folder with an encoder (docs/neural.md)")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scores", action="store_true", help="scoring instead of training")
    parser.add_argument("--loss", action="store_true", help="quality in eight bits instead")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.loss:
        rounded(options.checkpoint)
        return
    features, truth = documents(options.checkpoint, range(options.steps * BATCH))
    if options.scores:
        scored(options.checkpoint, features, truth, options.rounds)
        return
    ways: dict[str, Callable[[], list[float]]] = {
        "ours": lambda: ours(options.checkpoint, features, truth),
        "ours, bfloat16": lambda: ours(options.checkpoint, features, truth, precision="bfloat16"),
        "plain, nn.Dropout": lambda: plain(options.checkpoint, features, truth, 0.1),
        "plain, no dropout": lambda: plain(options.checkpoint, features, truth, 0.0),
    }
    found = medians(ways, options.rounds)
    for name, seconds in found.items():
        ratio = seconds / found["plain, no dropout"], seconds / found["plain, nn.Dropout"]
        print(f"{name:20s} {seconds / (options.steps - 1):.3f} s a step", end=" · ")
        print(f"{ratio[0]:.2f} × plain without dropout, {ratio[1]:.2f} × plain with it")


def medians(ways: Mapping[str, Callable[[], list[float]]], rounds: int) -> dict[str, float]:
    """The sum over batches of the median over rounds, the ways taking turns."""
    taken: dict[str, list[list[float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            taken[name].append(way())
    return {
        name: sum(statistics.median(own) for own in zip(*runs, strict=True))
        for name, runs in taken.items()
    }


def documents(checkpoint: str, places: Iterable[int]) -> tuple[Features, Truth]:
    """Token numbers and labels of the training documents at these places."""
    with gzip.open(data_folder() / "reuters" / "train.txt.gz", "rt", encoding="utf-8") as lines:
        every = [line.rstrip("\n").split("\t", 2) for line in lines]
    rows = [every[place] for place in places]
    vectorizer = Wordpieces(checkpoint=checkpoint, window=128, max_windows=1)
    label_sets = [row[1].split() for row in rows]
    truth = LabelIndex.of(label_sets).truth(label_sets)
    return vectorizer.fit_transform([row[2] for row in rows]), truth


def ours(checkpoint: str, features: Features, truth: Truth, **settings: Any) -> list[float]:
    """CPU seconds of every step of an epoch of the product's own training."""
    times: list[float] = []
    fitting = Fitting(
        seed=SEED,
        device="cpu",
        progress=lambda stage, done, total: times.append(time.process_time()),
    )
    learner = Transformer(
        checkpoint=checkpoint, epochs=1, valid_share=0.0, batch_size=BATCH, **settings
    )
    learner.fit(features, truth, fitting)
    return np.diff(times[:-1]).tolist()  # the last report is that of the epoch's end


def plain(checkpoint: str, features: Features, truth: Truth, dropout: float) -> list[float]:
    """The same batches in a loop as a tutorial writes it."""
    torch.manual_seed(SEED)
    model = plain_model(checkpoint, dropout, truth.shape[1]).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.001, fused=True)
    times = []
    for rows in training_batches(features, BATCH, np.random.default_rng([SEED, 0])):
        ids = pad_sequence(
            [torch.from_numpy(features[[row]].data.astype(np.int64)) for row in rows],
            batch_first=True,
        )
        targets = torch.from_numpy(truth[rows].toarray().astype(np.float32))
        optimizer.zero_grad()
        functional.binary_cross_entropy_with_logits(logits(model, ids), targets).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        times.append(time.process_time())
    return np.diff(times).tolist()


def plain_model(checkpoint: str, dropout: float, labels: int) -> Any:
    """The encoder with torch's own dropout, and a linear layer."""
    shape = read_architecture(checkpoint)
    encoder = Encoder(shape, 0.0)
    encoder.load_state_dict(read_weights(checkpoint))
    if dropout:
        _put_plain_dropout(encoder, dropout)
    return nn.ModuleDict({"encoder": encoder, "output": nn.Linear(shape.dimensions, labels)})


def logits(model: Any, ids: Any) -> Any:
    """The labels' layer over the mean of the encoded tokens."""
    encoder, inside = model["encoder"], ids > 0
    states = encoder(encoder.tokens((ids - 1).clamp(min=0)), inside)
    means = (states * inside[:, :, None]).sum(1) / inside.sum(1, keepdim=True)
    return model["output"](means)


def _put_plain_dropout(module: nn.Module, share: float) -> None:
    for name, child in module.named_children():
        if isinstance(child, ByteDropout):
            setattr(module, name, nn.Dropout(share))
        else:
            _put_plain_dropout(child, share)


def scored(checkpoint: str, features: Features, truth: Truth, rounds: int) -> None:
    """Print the milliseconds a document, one at a time, in single precision and in eight bits."""
    settings: dict[str, Any] = {"checkpoint": checkpoint, "frozen": True, "epochs": 1}
    learners = {
        name: Transformer(**settings, int8=name == "int8").fit(features, truth)
        for name in ("float32", "int8")
    }

    def one_by_one(learner: Transformer) -> list[float]:
        times = [time.process_time()]
        for row in range(features.shape[0]):
            learner.scores(features[[row]])
            times.append(time.process_time())
        return np.diff(times).tolist()

    ways = {name: partial(one_by_one, own) for name, own in learners.items()}
    for name, seconds in medians(ways, rounds).items():
        bytes_kept = sum(array.nbytes for array in learners[name].state().arrays.values())
        each = 1000 * seconds / features.shape[0]
        print(f"{name:8s} {each:.1f} ms a document, {bytes_kept / 1e6:.0f} MB")


def rounded(checkpoint: str) -> None:
    """Print figures of a layer over the encoder as it is, in single precision and in eight bits."""
    places = np.random.default_rng(5).permutation(DOCUMENTS)[: LEARNT + ASIDE]
    features, truth = documents(checkpoint, places)
    learner = Transformer(
        checkpoint=checkpoint, frozen=True, learning_rate=0.005, epochs=40, valid_share=0.0
    ).fit(features[:LEARNT], truth[:LEARNT], Fitting(device="cpu"))
    scores = {"float32": learner.scores(features[LEARNT:])}
    learner.network.encoder.to_int8()
    scores["int8"] = learner.scores(features[LEARNT:])
    alone = np.vstack([learner.scores(features[[LEARNT + i]]) for i in range(100)])
    for metric in ("micro-f1", "macro-f1", "p@1"):
        found = [validation_figure(metric, own, truth[LEARNT:]) for own in scores.values()]
        print(metric, *(f"{name} {value:.4f}" for name, value in zip(scores, found, strict=True)))
    print(f"int8, alone and in a batch: {np.abs(alone - scores['int8'][:100]).max():.1e} apart")


if __name__ == "__main__":
    main()
