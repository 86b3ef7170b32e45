"""What is logged: JSON lines that say where an error was raised, and never what it said."""

import json
import logging
import sys

import pytest

from app.serving.logs import JsonLines, place


def raised() -> ValueError:
    try:
        raise ValueError("words of a document")
    except ValueError as error:
        return error


def test_a_line_names_an_error_by_type_and_place_alone() -> None:
    error = raised()
    info = (type(error), error, error.__traceback__)
    record = logging.LogRecord(
        "labelserve.x", logging.ERROR, __file__, 1, "it %s\n", ("broke",), info
    )
    line = JsonLines().format(record)
    found = json.loads(line)
    assert (found["level"], found["logger"], found["message"]) == (
        "error",
        "labelserve.x",
        "it broke",
    )
    assert found["error"].startswith("ValueError at ")
    assert "test_logs.py:" in found["error"]
    assert "words" not in line
    assert "\n" not in line


def test_the_place_of_a_deep_error_stays_short() -> None:
    def down(depth: int) -> None:
        if depth == 0:
            sys.intern(7)  # type: ignore[arg-type]
        down(depth - 1)

    with pytest.raises(TypeError) as raised:
        down(50)
    assert place(raised.value).count("test_logs.py") == 8
