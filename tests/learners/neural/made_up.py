"""A small corpus whose labels are decided by its words, and every network in a tiny size."""

import atexit
import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from app.labels import LabelIndex
from app.learners import LEARNERS
from app.learners.base import learner_class
from app.learners.neural.pretrained import EMBEDDINGS, read_architecture
from app.vectorizers.base import vectorizer_class

TOPICS = {f"label{i}": [f"word{i}{c}" for c in "abcdef"] for i in range(5)}
FILLER = [f"filler{i}" for i in range(20)]
NETWORKS = sorted(kind for kind, place in LEARNERS.items() if ".neural." in place)

SMALL: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": 16, "dropout": 0.0},
    "kim-cnn": {"dimensions": 12, "filters": 8, "filter_sizes": (1, 3)},
    "xml-cnn": {"dimensions": 12, "filters": 8, "filter_sizes": (1, 3), "hidden": 24},
    "cnn-lwan": {"dimensions": 12, "filters": 16, "filter_size": 3},
    "caml": {"dimensions": 12, "filters": 16, "filter_size": 4},
    "bigru-lwan": {"dimensions": 12, "rnn_size": 16},
    "bilstm-lwan": {"dimensions": 12, "rnn_size": 16},
    "attention-xml": {
        "dimensions": 12,
        "rnn_size": 16,
        "cluster_size": 2,
        "hidden": 24,
        "epochs": 30,
        "patience": 9,
    },
    "transformer": {},
}
DROPOUTS = ("dropout", "embedding_dropout", "encoder_dropout")


def documents(n: int, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts of one or two topics among filler words, of 5 to 23 words, with their labels."""
    pick = random.Random(seed)
    texts, labels = [], []
    for _ in range(n):
        chosen = pick.sample(sorted(TOPICS), pick.choice([1, 1, 2]))
        words = pick.choices(FILLER, k=pick.randrange(2, 18))
        for topic in chosen:
            words += pick.choices(TOPICS[topic], k=3)
        pick.shuffle(words)
        texts.append(" ".join(words))
        labels.append(chosen)
    return texts, labels


def learner_for(kind: str, **settings: Any) -> Any:
    """A tiny learner without dropout, that learns fast."""
    cls = learner_class(kind)
    known = {"epochs": 12, "batch_size": 16, "learning_rate": 0.02, "clip": 5.0, **SMALL[kind]}
    if kind == "transformer":
        known |= {"checkpoint": checkpoint(), "learning_rate": 0.01, "patience": 9}
    known |= {name: 0.0 for name in DROPOUTS if hasattr(cls, name)}
    return cls(**{**known, **settings})


def vectorizer_for(kind: str, texts: list[str]) -> Any:
    """The vectorizer the learner wants, fitted."""
    wanted = learner_class(kind).features
    settings = {"checkpoint": checkpoint(), "window": 16} if wanted == "wordpieces" else {}
    vectorizer = vectorizer_class(wanted)(**settings)
    vectorizer.fit_transform(texts)
    return vectorizer


def data_for(kind: str, n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Features and truth of a corpus, and the vectorizer."""
    texts, labels = documents(n, seed)
    vectorizer = vectorizer_for(kind, documents(300)[0])
    index = LabelIndex(tuple(sorted(TOPICS)))
    return vectorizer.transform(texts), index.truth(labels), vectorizer


@cache
def checkpoint(family: str = "bert") -> str:
    """A folder with a tiny encoder of random weights, as Hugging Face lays it out."""
    made = TemporaryDirectory(prefix="labelserve-test-")
    atexit.register(made.cleanup)
    folder = Path(made.name)
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *FILLER,
        *(w for ws in TOPICS.values() for w in ws),
    ]
    _write_tokenizer(folder, words)
    sizes = {"vocab_size": len(words), "max_position_embeddings": 24, "model_type": family}
    if family == "distilbert":
        sizes |= {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24}
    else:
        sizes |= {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
        sizes |= {"intermediate_size": 24, "type_vocab_size": 2, "layer_norm_eps": 1e-6}
    (folder / "config.json").write_text(json.dumps(sizes))
    save_file(random_weights(str(folder), family), folder / "model.safetensors")
    return str(folder)


def random_weights(folder: str, family: str) -> dict[str, Any]:
    """Tensors by the family's own names, some for a head that is not ours."""
    shape = read_architecture(folder)
    maker = torch.Generator().manual_seed(0)
    size, hidden = shape.dimensions, shape.hidden
    rows = [shape.vocabulary, shape.positions, shape.types]
    weights = {
        name: torch.randn(n, size, generator=maker) * 0.3
        for name, n in zip(list(EMBEDDINGS)[:3], rows, strict=True)
        if n
    }
    weights |= {name: torch.ones(size) for name in list(EMBEDDINGS)[3:4]}
    weights |= {name: torch.zeros(size) for name in list(EMBEDDINGS)[4:]}
    is_distil = family == "distilbert"
    inner, outer = ("transformer", PARTS_DISTIL) if is_distil else ("encoder", PARTS_BERT)
    for layer in range(shape.layers):
        for part in outer:
            is_norm = "norm" in part.lower()
            wide, narrow = (hidden, size) if part in ("intermediate.dense", "ffn.lin1") else (0, 0)
            if part in ("output.dense", "ffn.lin2"):
                wide, narrow = size, hidden
            form = (size,) if is_norm else (wide or size, narrow or size)
            name = f"{inner}.layer.{layer}.{part}"
            start = torch.ones(form) if is_norm else torch.randn(form, generator=maker) * 0.2
            weights[f"{name}.weight"] = start
            weights[f"{name}.bias"] = torch.zeros(form[0])
    return {f"{family}.{name}": value for name, value in weights.items()} | {
        "cls.predictions.bias": torch.zeros(shape.vocabulary)
    }


PARTS_BERT = [
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
]
PARTS_DISTIL = [
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
]


def _write_tokenizer(folder: Path, words: list[str]) -> None:
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=words[1]))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
