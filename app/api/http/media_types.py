"""The media types of test sets, and the data formats that they say."""

MULTIPART, GUESSED = b"multipart/form-data", b"application/octet-stream"
FORMATS = {
    b"text/tab-separated-values": "tsv",
    b"application/x-ndjson": "jsonl",
    b"application/json": "json",
    b"text/csv": "csv",
    b"text/x-svmlight": "svmlight",
    GUESSED: "auto",
    MULTIPART: "auto",
}
NAMED = [name.decode() for name, format in FORMATS.items() if format != "auto"]
"""Media types that say the format."""
