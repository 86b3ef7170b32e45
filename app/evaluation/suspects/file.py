"""The suspects file, CSV or JSON: what a reviewer fills the column `decision` of."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidRequestError
from app.evaluation.suspects.suspect_list import Suspect

MOST_SUSPECTS = 20_000
"""More than anybody looks through; the file says no more."""
SUFFIXES = (".csv", ".json")
COLUMNS = ("id", "line", "label", "kind", "probability", "data", "decision")
HASH_DIGITS = 12


def check_suspects_file(file: Path | None) -> None:
    """Refuse, before training, a file that could not be written after it."""
    if file is None:
        return
    if file.suffix.lower() not in SUFFIXES:
        raise InvalidRequestError(
            f"--suspects takes a file name that ends in {' or '.join(SUFFIXES)}"
        )
    if not file.absolute().parent.is_dir():
        raise InvalidRequestError("--suspects: the folder of the file does not exist")


def write_suspects(file: Path | None, suspects: Sequence[Suspect], data_sha256: str) -> None:
    """Write the suspects in their order; nothing where no file was asked for."""
    if file is None:
        return
    is_json = file.suffix.lower() == ".json"
    content = _json(suspects, data_sha256) if is_json else _csv(suspects, data_sha256)
    file.write_text(content, encoding="utf-8", newline="")


def _csv(suspects: Sequence[Suspect], data_sha256: str) -> str:
    text = io.StringIO()
    rows = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    rows.writeheader()
    # With its name before it, so that no spreadsheet takes the hash for a number.
    data = f"sha256:{data_sha256[:HASH_DIGITS]}"
    for one in suspects:
        probability = f"{one.probability:.4f}"
        rows.writerow({**one.as_dict(), "probability": probability, "data": data, "decision": ""})
    return text.getvalue()


def _json(suspects: Sequence[Suspect], data_sha256: str) -> str:
    listed = [{**one.as_dict(), "decision": ""} for one in suspects]
    content = {"data": {"sha256": data_sha256}, "suspects": listed}
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
