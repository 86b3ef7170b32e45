"""Groups of texts as the arrays that tasks share, and the texts again on a worker."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any

from numpy.typing import NDArray

from app.engine import Engine
from app.kernels.text.chunks import text_chunks
from app.resources.stored_texts import GROUP, PackedTexts, stored_groups
from app.state import pack_strings, unpack_strings

CHARACTERS = GROUP
SURROGATES = "surrogatepass"
LEAST_GROUPS = 32
"""With fewer, what they save is less than what it takes to send texts."""

TextArrays = Mapping[str, NDArray[Any]]
"""`texts` and `texts_ends`, or `group` and `rows`; or their names."""


def shared_groups(engine: Engine, documents: Sequence[str]) -> list[TextArrays] | None:
    """The texts in groups that the engine keeps; None where they are here, and few."""
    kept = stored_groups(documents)
    if kept is not None:
        return [
            {"group": group.name, **({} if group.rows is None else {"rows": group.rows})}
            for group in kept
        ]
    chunks = text_chunks(documents, CHARACTERS)
    first = list(islice(chunks, LEAST_GROUPS))
    if len(first) < LEAST_GROUPS:
        return None
    return [_stored(engine, chunk) for chunk in chain(first, chunks)]


def texts_of(arrays: TextArrays) -> Sequence[str]:
    """The texts of a group, from its arrays."""
    if "texts" in arrays:
        return unpack_strings(arrays, "texts", SURROGATES)
    texts = PackedTexts(arrays["group"])
    return [texts[int(row)] for row in arrays["rows"]] if "rows" in arrays else list(texts)


def bytes_of(arrays: TextArrays) -> int:
    """How long the texts of a group are; of some of its rows, of all."""
    return len(arrays["texts"]) if "texts" in arrays else PackedTexts(arrays["group"]).n_bytes


def _stored(engine: Engine, texts: Sequence[str]) -> TextArrays:
    arrays = pack_strings(texts, "texts", SURROGATES)
    return {name: engine.store(array) for name, array in arrays.items()}
