"""What is logged: JSON lines that say where an error was raised, and never what it said."""

import fcntl
import json
import logging
import os
import sys
from time import monotonic

import pytest

from app.serving import log_writer
from app.serving.log_writer import LogWriter, log_writers
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


def test_lines_that_nobody_reads_are_dropped_as_a_whole_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_writer, "MOST_WAITING", 100_000)
    reading, writing = os.pipe()
    writer, line = LogWriter(writing, "stdout"), b"x" * 999 + b"\n"
    for _ in range(300):
        assert writer.write(line) == 1000
    dropped = int(writer.dropped.numbers()[0])
    assert 0 < dropped < 300
    with open(reading, "rb") as pipe:
        assert pipe.read(1000 * (300 - dropped)) == line * (300 - dropped)
    writer.write(line * 2)  # the reader is gone
    writer.drain(monotonic() + 30)
    assert writer.dropped.numbers() == [dropped + 2]
    os.close(writing)


@pytest.mark.parametrize("descriptor", [None, 1030], ids=["as it comes", "past 1023"])
def test_a_pipe_that_another_process_has_set_not_to_block_loses_no_line(
    descriptor: int | None,
) -> None:
    reading, writing = os.pipe()
    if descriptor is not None:
        low, writing = writing, fcntl.fcntl(writing, fcntl.F_DUPFD, descriptor)
        os.close(low)
    os.set_blocking(writing, False)
    writer, line = LogWriter(writing, "stderr"), b"x" * 999 + b"\n"
    for _ in range(200):
        writer.write(line)
    with open(reading, "rb") as pipe:
        assert pipe.read(200_000) == line * 200
    assert writer.dropped.numbers() == [0]
    os.close(writing)


def test_whatever_is_written_while_threads_write_arrives_in_order(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = sys.stdout, sys.stderr
    with log_writers() as writers:
        sys.stdout.write("one\n")
        sys.stdout.buffer.write(b"two\n")
        sys.stderr.write("three \ud800\n")
        assert sys.stdout.fileno() == writers.output.fileno()
    assert (sys.stdout, sys.stderr) == before
    assert capfd.readouterr() == ("one\ntwo\n", "three \\ud800\n")


def test_an_error_of_the_system_is_logged_with_its_number_and_without_the_file_s_name() -> None:
    with pytest.raises(OSError, match="secret") as raised:
        os.stat("/nowhere/secret")
    said = place(raised.value)
    assert said.startswith("FileNotFoundError ENOENT (2): No such file or directory at ")
    assert "secret" not in said
