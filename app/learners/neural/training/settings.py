"""TrainingSettings: how a network is trained, the same words for every network."""

from collections.abc import Sequence
from dataclasses import Field, dataclass, fields
from typing import Any

from app.errors import InvalidRequestError

CHOICES = {
    "optimizer": ("adam", "adamw"),
    "schedule": ("constant", "linear", "cosine"),
    "start_vectors": ("documents", "random"),
    "loss": ("bce", "class-balanced", "asymmetric"),
    "keep": ("best", "last"),
    "precision": ("float32", "bfloat16"),
}
FROM_0 = ("frozen_layers", "threads", "training_tokens")
RATES = ("learning_rate", "term_rate")
SHARES = ("valid_share", "warmup", "label_smoothing")


@dataclass(kw_only=True)
class TrainingSettings:
    """docs/neural.md says where defaults differ from LibMultiLabel's, and why."""

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
    keep: str = "best"
    """Which weights stay: the best by `metric`, or the last. Documents that chose no epoch give
    held-out scores that are not flattered by the choice."""
    minutes: float = 0.0
    """The schedule ends after so many minutes by the clock, or after `epochs`; 0: by epochs alone.
    What comes out then depends on how fast the machine is."""
    start_vectors: str = "documents"
    """Where word vectors start: from words that stand together in the documents, or at random."""
    threads: int = 1
    """Threads of the training arithmetic: fixed, as sums change with it in the last digit; or 0, as
    many as are fastest while it runs."""

    def embedding_rate(self) -> float:
        """The learning rate of a layer of term vectors (`nn.EmbeddingBag`)."""
        return self.learning_rate

    def output_rate(self) -> float:
        """The learning rate of the layer that gives labels."""
        return self.learning_rate

    def is_half_precision(self) -> bool:
        """Whether a processor multiplies in bfloat16 in training."""
        return False

    def __post_init__(self) -> None:
        for setting in fields(self):
            problem = _accepted(setting, getattr(self, setting.name)) if setting.init else ""
            if problem:
                raise InvalidRequestError(f"{setting.name}: accepted: {problem}")


def _accepted(setting: Field[Any], value: Any) -> str:
    """What the setting accepts if it does not accept this value, else nothing.

    Whole numbers are counts, so at least 1; shares and dropouts lie below 1; other numbers are
    at least 0.
    """
    name, default = setting.name, setting.default
    if name in CHOICES:
        return "" if value in CHOICES[name] else ", ".join(CHOICES[name])
    if isinstance(default, bool | str):
        kind = "true or false" if isinstance(default, bool) else "a text"
        return "" if isinstance(value, type(default)) else kind
    if isinstance(default, int):
        least = 0 if name in FROM_0 else 1
        return "" if _is_count(value, least) else f"a whole number of at least {least}"
    if name in RATES and value == 0:
        return "a number above 0"
    if isinstance(default, float):
        below = 1.0 if name in SHARES or name.endswith("dropout") else float("inf")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        limit = "a number from 0 up to (not with) 1" if below == 1.0 else "a number of at least 0"
        return "" if is_number and 0 <= value < below else limit
    is_list = isinstance(value, Sequence) and len(value) > 0 and all(map(_is_count, value))
    return "" if is_list else "a list of whole numbers of at least 1"


def _is_count(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
