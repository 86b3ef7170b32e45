"""Everything that is logged, as JSON lines on standard error. Foreign messages may hold texts:
of an exception only its type and place are written."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

from app.errors import errno_text

DEEPEST = 8


class JsonLines(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": when.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().strip(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = place(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True)


def place(error: BaseException) -> str:
    """An error's type and where it was raised, without its message, but for the system's errno."""
    frames = traceback.extract_tb(error.__traceback__)[-DEEPEST:]
    places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
    said = f" {errno_text(error)}" if isinstance(error, OSError) else ""
    return f"{type(error).__name__}{said} at {places}"


def in_brief(error: Exception) -> str:
    """What the system said of its own error; type and place of any other."""
    return errno_text(error) if isinstance(error, OSError) else place(error)


def write_logs_as_json(level: str) -> None:
    """Send all logging to standard error in this form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # Its start and stop messages say nothing that ours do not.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
