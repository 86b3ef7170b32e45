"""TrainingSettings: how a network is trained, the same words for every network."""

from dataclasses import dataclass, fields

from app.errors import InvalidRequestError

CHOICES = {
    "optimizer": ("adam", "adamw"),
    "schedule": ("constant", "linear", "cosine"),
    "start_vectors": ("documents", "random"),
    "loss": ("bce", "class-balanced", "asymmetric"),
}
SHARES = ("valid_share", "warmup", "label_smoothing")
COUNTS = ("epochs", "batch_size", "patience", "threads")


@dataclass(kw_only=True)
class TrainingSettings:
    """Defaults are LibMultiLabel's where it has the setting; docs/neural.md says where not."""

    epochs: int = 50
    batch_size: int = 64
    optimizer: str = "adam"
    learning_rate: float = 0.002
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup: float = 0.0
    """Share of all steps in which the learning rate climbs from 0."""
    clip: float = 0.0
    """Largest norm of the gradient; 0 = no clipping."""
    loss: str = "bce"
    label_smoothing: float = 0.0
    metric: str = "micro-f1"
    """What early stopping looks at: micro-f1, macro-f1, p@K, ndcg@K or loss."""
    patience: int = 3
    """Epochs without a better metric before training stops."""
    valid_share: float = 0.1
    """Share of the training documents held back for early stopping where no set is given; with 0
    all are trained on, for all epochs."""
    start_vectors: str = "documents"
    """Where word vectors start: from words that stand together in the documents, or at random."""
    threads: int = 1
    """Threads of the training arithmetic. Fixed, as sums change with it in the last digit."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            if setting.init:
                self._check(setting.name)

    def _check(self, name: str) -> None:
        value = getattr(self, name)
        if name in CHOICES and value not in CHOICES[name]:
            raise InvalidRequestError(f"{name}: accepted: {', '.join(CHOICES[name])}")
        if name in SHARES and not 0 <= value < 1:
            raise InvalidRequestError(f"{name}: accepted: a number from 0 up to (not with) 1")
        if name in COUNTS and not (isinstance(value, int) and value >= 1):
            raise InvalidRequestError(f"{name}: accepted: a whole number of at least 1")
        if name in ("learning_rate", "clip", "weight_decay") and value < 0:
            raise InvalidRequestError(f"{name}: accepted: a number of at least 0")
