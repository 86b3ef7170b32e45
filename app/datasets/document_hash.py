"""Hashes of documents: the same for one file, for its parts, and in another compression."""

import hashlib
from struct import pack

from app.datasets.base import Record

DIGEST_BYTES = 16


def document_digest(document: Record) -> bytes:
    """The hash of one document: of its id, labels and text (or features)."""
    fields = [(document.id or "").encode(errors="surrogatepass")]
    fields += [label.encode() for label in document.labels]
    fields.append(document.text.encode(errors="surrogatepass"))
    if document.features is not None:
        fields += [values.tobytes() for values in document.features]
    # Lengths first, so that no two documents can be written alike.
    lengths = pack(f"<{len(fields) + 1}q", len(fields), *map(len, fields))
    return hashlib.sha256(lengths + b"".join(fields)).digest()[:DIGEST_BYTES]


def documents_sha256(digests: bytes | bytearray) -> str:
    """One hash over all documents, from the hashes of each in their order."""
    return hashlib.sha256(digests).hexdigest()
