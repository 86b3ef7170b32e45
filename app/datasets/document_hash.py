"""One hash over documents: the same for one file, for its parts, and in another compression."""

import hashlib
from struct import pack

from app.datasets.base import Record


class DocumentHash:
    """SHA-256 over id, labels and text (or features) of each document, in their order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, document: Record) -> None:
        """Take one more document."""
        fields = [(document.id or "").encode(errors="surrogatepass")]
        fields += [label.encode() for label in document.labels]
        fields.append(document.text.encode(errors="surrogatepass"))
        if document.features is not None:
            fields += [values.tobytes() for values in document.features]
        # Lengths first, so that no two documents can be written alike.
        lengths = pack(f"<{len(fields) + 1}q", len(fields), *map(len, fields))
        self._hash.update(lengths + b"".join(fields))

    def hexdigest(self) -> str:
        """Of all documents so far."""
        return self._hash.hexdigest()
