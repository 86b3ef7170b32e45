"""The corrections file: rows of a document, a label and what a reviewer decided, CSV or JSON."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from app.datasets.corrections.correction import ACCEPTED, CorrectionsFile, LabelCorrection
from app.datasets.faults import Faults
from app.datasets.formats.csv_rows import delimiter_of, rows
from app.datasets.input.encoding import head_text
from app.datasets.input.limits import Limits
from app.datasets.input.source import Source

DECISIONS = ("keep", "take", "drop", "unsure", "")


def load_corrections(path: str | Path) -> CorrectionsFile:
    """Read a file; JSON is told from CSV by its first character."""
    source = Source(path, Limits())
    faults = Faults(source.name)
    try:
        is_json = head_text(source).lstrip()[:1] in ("{", "[")
        entries = _json_entries(source, faults) if is_json else _csv_entries(source, faults)
        read = tuple(_correction(number, entry, faults) for number, entry in entries)
    finally:
        source.close()
    return CorrectionsFile(source.name, source.sha256, read)


def _csv_entries(source: Source, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    header: list[str] = []
    for line, row in rows(source, faults, delimiter_of(head_text(source).partition("\n")[0])):
        if not header:
            header = [name.strip().lower() for name in row]
            if missing := {"label", "decision"} - set(header):
                named = ", ".join(sorted(missing))
                raise faults.fatal(f"no column {named}", line=line, accepted=ACCEPTED)
        elif len(row) != len(header):
            accepted = f"{len(header)}, as in the header"
            raise faults.fatal(f"{len(row)} fields in a row", line=line, accepted=accepted)
        else:
            yield line, dict(zip(header, row, strict=True))


def _json_entries(source: Source, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """The entries of an array, or of the `suspects` of an object such as a report."""
    try:
        content = msgspec.json.decode(b"".join(source.chunks()))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise faults.fatal("not JSON", line=1, accepted=ACCEPTED) from error
    data = ""
    if isinstance(content, dict):
        about, content = content.get("data"), content.get("suspects")
        data = str(about.get("sha256", "")) if isinstance(about, dict) else ""
    entries = content if isinstance(content, list) else [None]
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise faults.fatal("not a list of objects", line=number, accepted=ACCEPTED)
        yield number, {"data": data, **entry}


def _correction(number: int, entry: Mapping[str, Any], faults: Faults) -> LabelCorrection:
    decision = str(entry.get("decision") or "").strip().lower()
    if decision not in DECISIONS:
        raise faults.fatal("unknown decision", line=number, found=decision, accepted=ACCEPTED)
    label, id_ = str(entry.get("label") or "").strip(), str(entry.get("id") or "")
    line = _line(entry.get("line"), number, faults)
    if not label or not (id_ or line):
        problem = "no label" if not label else "neither id nor line of a document"
        raise faults.fatal(problem, line=number, accepted=ACCEPTED)
    data = str(entry.get("data") or "").strip().removeprefix("sha256:")
    return LabelCorrection(number, label, decision, id_ or None, line, data)


def _line(value: Any, number: int, faults: Faults) -> int | None:
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise faults.fatal("not a line number", line=number, found=text, accepted="1 or more")
    return int(text)
