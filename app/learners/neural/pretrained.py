"""A local checkpoint folder in Hugging Face's layout: its sizes, and its weights by our names."""

import json
import re
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from app.errors import InvalidRequestError
from app.learners.neural.layers.encoder import ACTIVATIONS, Architecture

FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert")
PREFIX = re.compile(r"^(bert|roberta|distilbert|model)\.")
LAYER = re.compile(r"^(?:encoder|transformer)\.layer\.(\d+)\.(.+)\.(weight|bias)$")

EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "tokens.weight",
    "embeddings.position_embeddings.weight": "positions.weight",
    "embeddings.token_type_embeddings.weight": "types.weight",
    "embeddings.LayerNorm.weight": "norm.weight",
    "embeddings.LayerNorm.bias": "norm.bias",
}
PARTS = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "joined",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "hidden",
    "output.dense": "output",
    "output.LayerNorm": "output_norm",
    "attention.q_lin": "query",  # from here on DistilBERT's names
    "attention.k_lin": "key",
    "attention.v_lin": "value",
    "attention.out_lin": "joined",
    "sa_layer_norm": "attention_norm",
    "ffn.lin1": "hidden",
    "ffn.lin2": "output",
    "output_layer_norm": "output_norm",
}


def read_architecture(checkpoint: str) -> Architecture:
    """The sizes in config.json; a family or an activation that is not known here is refused."""
    config = json.loads(_file(checkpoint, "config.json").read_text(encoding="utf-8"))
    family = config.get("model_type")
    if family not in FAMILIES:
        raise InvalidRequestError(f"transformer: accepted checkpoints: {', '.join(FAMILIES)}")
    is_distil = family == "distilbert"
    activation = config.get("activation" if is_distil else "hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise InvalidRequestError(f"transformer: accepted activations: {', '.join(ACTIVATIONS)}")
    starts_at_2 = family in ("roberta", "xlm-roberta", "camembert")
    return Architecture(
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        first_position=config.get("pad_token_id", 1) + 1 if starts_at_2 else 0,
        types=0 if is_distil else config.get("type_vocab_size", 2),
        dimensions=config["dim" if is_distil else "hidden_size"],
        layers=config["n_layers" if is_distil else "num_hidden_layers"],
        heads=config["n_heads" if is_distil else "num_attention_heads"],
        hidden=config["hidden_dim" if is_distil else "intermediate_size"],
        activation=activation,
        epsilon=config.get("layer_norm_eps", 1e-12),
    )


def read_weights(checkpoint: str) -> dict[str, Any]:
    """The encoder's weights by the names of `Encoder`; heads of other tasks are left out."""
    tensors = load_file(_file(checkpoint, "model.safetensors"))
    named = {_our_name(PREFIX.sub("", name)): value for name, value in tensors.items()}
    named.pop("", None)
    return {name: value.float() for name, value in named.items()}


def _our_name(name: str) -> str:
    if name in EMBEDDINGS:
        return EMBEDDINGS[name]
    found = LAYER.match(name)
    if found is None or found[2] not in PARTS:
        return ""
    return f"layers.{found[1]}.{PARTS[found[2]]}.{found[3]}"


def _file(checkpoint: str, name: str) -> Path:
    file = Path(checkpoint) / name
    if not checkpoint or not file.is_file():
        problem = "transformer: set learner.checkpoint to a folder with config.json,"
        raise InvalidRequestError(f"{problem} model.safetensors and tokenizer.json; no {name}")
    return file
