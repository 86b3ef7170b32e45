"""attention-xml: for many labels, first clusters of labels, then the labels of the best ones.

After You et al. 2019, with one encoder for both levels, trained together.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn import functional

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.neural.label_clusters import cluster_count, label_clusters
from app.learners.neural.layers.label_attention import LabelAttention
from app.learners.neural.layers.network import WordNetwork
from app.learners.neural.layers.recurrent import Bidirectional
from app.learners.neural.layers.words import Text, Words
from app.learners.neural.learner import NetworkLearner
from app.learners.neural.training.batches import Ids
from app.learners.neural.training.losses import Loss


@dataclass(kw_only=True)
class AttentionXml(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "attention-xml"

    dimensions: int = 300
    rnn_size: int = 512
    hidden: int = 256
    cluster_size: int = 8
    beam: int = 64
    """In how many of a document's best clusters its labels are scored; others have no score."""
    embedding_dropout: float = 0.2
    encoder_dropout: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss == "class-balanced":
            raise InvalidRequestError("loss: attention-xml accepts: bce, asymmetric")

    def build(self, sizes: dict[str, Any]) -> WordNetwork:
        """The network, not yet trained."""
        return AttentionXmlNetwork(self, sizes)

    def prepare(self, part: tuple[Features, Truth], fitting: Fitting) -> None:
        """Cluster the labels, then start like every network."""
        super().prepare(part, fitting)
        clusters = label_clusters(*part, self.cluster_size, seed=fitting.seed)
        self.network.set_clusters(torch.from_numpy(clusters))


class AttentionXmlNetwork(WordNetwork):
    """Words → encoder → clusters by attention → the labels of the best clusters by attention."""

    def __init__(self, settings: AttentionXml, sizes: dict[str, Any]) -> None:
        super().__init__()
        labels = self.n_labels = sizes["labels"]
        n_clusters = cluster_count(labels, settings.cluster_size)
        self.beam = min(settings.beam, n_clusters)
        self.words = Words(sizes["inputs"], settings.dimensions, settings.embedding_dropout)
        self.encoder = Bidirectional("lstm", settings.dimensions, settings.rnn_size, layers=1)
        self.dropout = nn.Dropout(settings.encoder_dropout)
        size = self.encoder.size
        self.clusters = LabelAttention(size, n_clusters)
        self.attention = nn.Embedding(labels, size)
        self.hidden = nn.Linear(size, settings.hidden)
        self.output = nn.Linear(settings.hidden, 1, bias=False)
        self.output_bias = nn.Parameter(torch.zeros(labels))
        width = -(-labels // n_clusters)
        self.register_buffer("members", torch.zeros(n_clusters, width, dtype=torch.int64))
        self.register_buffer("cluster_of", torch.zeros(labels, dtype=torch.int64))
        if not self.output_bias.is_meta:
            nn.init.xavier_uniform_(self.attention.weight)

    def set_clusters(self, cluster_of: Any) -> None:
        """Fix which cluster every label is in; places without a label hold -1."""
        self.members.fill_(-1)
        for cluster in range(len(self.members)):
            inside = torch.nonzero(cluster_of == cluster).flatten()
            self.members[cluster, : len(inside)] = inside
        self.cluster_of.copy_(cluster_of)

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.output_bias

    def from_words(self, text: Text) -> Any:
        """Log-odds that cluster and label are both true; -inf outside the best clusters."""
        places, inside = self.dropout(self.encoder(text)), text.is_inside()
        clusters = self.clusters(places, inside)
        best = clusters.topk(self.beam, dim=1).indices
        labels = self.members[best].flatten(1)
        logits = self._label_logits(places, inside, labels)
        whole = functional.logsigmoid(logits) + functional.logsigmoid(
            clusters.gather(1, self.cluster_of[labels.clamp(min=0)])
        )
        odds = whole - torch.log(-torch.expm1(whole.clamp(max=-1e-7)))
        return _spread(odds, labels, self.n_labels)

    def training_loss(self, batch: Ids, targets: Any, loss: Loss) -> Any:
        """The clusters' loss plus that of the labels of true clusters and of the best others."""
        text = self.words(batch)
        places, inside = self.dropout(self.encoder(text)), text.is_inside()
        clusters = self.clusters(places, inside)
        wanted = targets.new_zeros(clusters.shape)
        wanted = wanted.index_add(1, self.cluster_of, targets).clamp(max=1)
        guided = clusters.detach() + wanted * 1e4  # true clusters first, as beam search may miss
        labels = self.members[guided.topk(self.beam, dim=1).indices].flatten(1)
        logits = self._label_logits(places, inside, labels)
        known = labels >= 0
        truth = targets.gather(1, labels.clamp(min=0))
        of_clusters = functional.binary_cross_entropy_with_logits(clusters, wanted)
        return of_clusters + loss(logits[known][None], truth[known][None])

    def _label_logits(self, places: Any, inside: Any, labels: Any) -> Any:
        """Logits (documents, candidates) of some labels for each document."""
        known = labels.clamp(min=0)
        weights = self.attention(known) @ places.transpose(1, 2)
        weights = weights.masked_fill(~inside[:, None], -torch.inf).softmax(dim=2)
        hidden = functional.relu(self.hidden(weights @ places))
        return self.output(hidden).squeeze(2) + self.output_bias[known]


def _spread(values: Any, labels: Any, n_labels: int) -> Any:
    """Values at their labels' columns, -inf elsewhere; label -1 is none."""
    wide = values.new_full((len(values), n_labels + 1), -torch.inf)
    columns = torch.where(labels < 0, n_labels, labels)
    return wide.scatter(1, columns, values)[:, :n_labels]
