"""transformer: fine-tunes a pre-trained encoder from a local folder; long documents in windows."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.neural.layers.encoder import Architecture
from app.learners.neural.layers.frozen import Head, LowerStates, Pooled, UpperLayers, rows_of
from app.learners.neural.layers.network import Network
from app.learners.neural.layers.transformer_network import (
    TransformerNetwork,
    WindowBatch,
    windows_of,
)
from app.learners.neural.learner import NetworkLearner
from app.learners.neural.pretrained import read_architecture, read_weights
from app.learners.neural.training.batches import first_tokens, ids_of
from app.learners.neural.training.checkpoints import Training
from app.learners.neural.training.loop import NetworkTraining, network_scores

ROUNDED_TOLERANCE = 0.1


@dataclass(kw_only=True)
class Transformer(NetworkLearner):
    """The settings of the network and of its training; `checkpoint` is a folder on this machine."""

    kind: ClassVar[str] = "transformer"
    vectorizer_kind: ClassVar[str] = "wordpieces"

    checkpoint: str = ""
    frozen: bool = False
    """Whether the encoder stays as it is, and only the layer over it learns: every document is then
    encoded once, and a learning rate of about 0.005 is in place."""
    frozen_layers: int = 0
    """So many layers from below stay as they are, and the embeddings with them; what they make of
    a document is computed once. 0: everything learns."""
    dropout: float = 0.1
    attention_dropout: float = 0.0
    """Dropout of attention; any keeps torch from its fused attention on a processor."""
    training_tokens: int = 0
    """Training reads so many tokens of a document, scoring all of them; 0: all."""
    int8: bool = False
    """Whether the trained layers are rounded to eight bits, for quicker answers."""
    epochs: int = 15
    batch_size: int = 16
    optimizer: str = "adamw"
    learning_rate: float = 0.00005
    head_rate: float = 0.0
    """The learning rate of the layer of labels; 0: the same."""
    precision: str = "float32"
    """Of the products in training: float32, or bfloat16 where the processor multiplies these."""
    weight_decay: float = 0.001
    schedule: str = "linear"
    warmup: float = 0.1
    clip: float = 1.0

    @property
    def score_tolerance(self) -> float:
        """A last digit that differs may round another way in eight bits, and that moves a score."""
        return ROUNDED_TOLERANCE if self.int8 else super().score_tolerance

    def output_rate(self) -> float:
        """The learning rate of the layer of labels."""
        return self.head_rate or self.learning_rate

    def is_half_precision(self) -> bool:
        """Whether training multiplies in bfloat16."""
        return self.precision == "bfloat16"

    def measure(self, features: Features, fitting: Fitting) -> dict[str, Any]:
        """The sizes of the checkpoint's encoder."""
        sizes = asdict(read_architecture(self.checkpoint))
        if self.frozen_layers > sizes["layers"]:
            raise InvalidRequestError(f"frozen_layers: this checkpoint has {sizes['layers']}")
        return sizes

    def build(self, sizes: dict[str, Any]) -> Network:
        """The network; its weights come from the checkpoint, or from the artifact."""
        shape = {name: value for name, value in sizes.items() if name != "labels"}
        share = self.attention_dropout
        return TransformerNetwork(
            Architecture(**shape), self.dropout, sizes["labels"], attention_dropout=share
        )

    def build_served(self, sizes: dict[str, Any]) -> Network:
        """The network as it is stored: rounded where that was asked for."""
        return self._rounded(self.build(sizes))

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Train, then round where that was asked for: cuts are tuned on scores as served."""
        super().fit(features, truth, fitting)
        self._rounded(self.network)
        return self

    def _rounded(self, network: Any) -> Network:
        if self.int8:
            network.encoder.to_int8()
        made: Network = network
        return made

    def prepare(self, part: tuple[Features, Truth], fitting: Fitting) -> None:
        """Take over the encoder's weights."""
        super().prepare(part, fitting)
        encoder = self.network.encoder
        encoder.load_state_dict(read_weights(self.checkpoint))
        if self.frozen:
            encoder.requires_grad_(False)
        elif self.frozen_layers:
            encoder.freeze_lower(self.frozen_layers)

    def train(self, job: NetworkTraining) -> Training:
        """Run the job; what is frozen sees every document once."""
        if self.training_tokens:
            features, truth = job.train
            job = replace(job, train=(first_tokens(features, self.training_tokens), truth))
        if self.frozen:
            return super().train(self._over_means(job))
        return super().train(self._over_states(job) if self.frozen_layers else job)

    def _over_means(self, job: NetworkTraining) -> NetworkTraining:
        """The job of the layer of labels alone, on what the encoder made of the documents."""
        parts = [job.train, *([job.valid] if job.valid else [])]
        encoded = [(self._encoded(job, features), truth) for features, truth in parts]
        valid = encoded[1] if job.valid else None
        head = Head(self.network)
        return replace(job, network=head, collate=rows_of, train=encoded[0], valid=valid)

    def _over_states(self, job: NetworkTraining) -> NetworkTraining:
        """The job of the layers that learn, on what those below made of the tokens."""
        lower = LowerStates(self.network, self.frozen_layers, job.collate)
        for features, _ in (job.train, *([job.valid] if job.valid else [])):
            lower.keep(features, job.device)
        upper = UpperLayers(self.network, self.frozen_layers)
        return replace(job, network=upper, collate=lower.batch)

    def _encoded(self, job: NetworkTraining, features: Features) -> Features:
        """The documents as the encoder sees them, a dense row each."""
        pooled = Pooled(self.network)
        return csr_array(network_scores(pooled, self.collate, features, device=job.device))

    def collate(self, features: Features, rows: NDArray[np.int64]) -> WindowBatch:
        """A batch of windows; tokens as stored, one above the checkpoint's own numbers."""
        batch = windows_of(ids_of(features, rows, size=self.sizes["vocabulary"] + 1).ids)
        longest = self.sizes["positions"] - self.sizes["first_position"]
        if batch.ids.shape[1] > longest:
            raise InvalidRequestError(f"this checkpoint takes a features.window of up to {longest}")
        return batch

    def by_gradient(self, batch: WindowBatch, label: int) -> Any:
        """A contribution a token."""
        return self.network.contributions(batch, label)

    def special_numbers(self, columns: NDArray[Any]) -> list[int]:
        """The marks at the beginning and the end of a window."""
        return [int(columns[at]) for at in (0, -1) if len(columns)]

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "checkpoint": ""}  # a folder here means nothing elsewhere
