"""64-bit fingerprints of texts: tell that a text was seen before without keeping it."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def fingerprint(text: str) -> int:
    """The same number for texts that differ in white space only (0 ≤ number < 2**64).

    >>> fingerprint("a  b\\n") == fingerprint("a b")
    True
    """
    folded = " ".join(text.split()).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(folded, digest_size=8).digest(), "little")


def fingerprints(texts: Iterable[str]) -> NDArray[np.uint64]:
    """The fingerprint of each text, in their order."""
    return np.fromiter(map(fingerprint, texts), dtype=np.uint64)
