"""JSON files: an array of objects, or objects one after another, read as a stream."""

import codecs
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn

from app.datasets.base import ReadOptions, Record
from app.datasets.exports.tasks import documents as documents_of
from app.datasets.faults import Faults
from app.datasets.input.encoding import utf8_pieces
from app.datasets.input.lines import UTF8
from app.datasets.input.source import Source
from app.errors import InvalidDataError

ACCEPTED = "an array of objects, [{…}, {…}], or objects one after another"
SPACE = " \t\r\n"
UNREADABLE = "JSON that is nested too deeply, or has NaN or a number beyond range"
NEAR_THE_END = 16
"""Characters: an error so near to the end of what was read may be no error once more is read."""


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document an object; what shape the objects have is told by the first one."""
    return documents_of(_objects(_Text(source, faults), faults), options, faults)


def _objects(text: "_Text", faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object with the line it begins on."""
    is_array = text.passes("[")
    while text.next_character() not in ("", "]"):
        line, value = text.line, text.value()
        if isinstance(value, dict):
            yield line, value
        else:
            faults.add("an element that is no object", line=line, accepted=ACCEPTED)
        if is_array and not text.passes(",") and text.next_character() != "]":
            text.refuse()
    if is_array and not text.passes("]"):
        text.refuse()
    if text.next_character():
        text.refuse()


class _Text:
    """The text of a source as far as it is needed; what was decoded is forgotten."""

    def __init__(self, source: Source, faults: Faults) -> None:
        self._pieces, self._limit = utf8_pieces(source), source.limits.max_line_bytes
        self._faults, self._decoder = faults, codecs.getincrementaldecoder("utf-8")()
        self._json = JSONDecoder(parse_constant=_no_number)
        self._held, self._at, self._is_whole = "", 0, False
        self._before = 0  # characters of the line under way that were dropped
        self.line = 1

    def next_character(self) -> str:
        """The next character that is no white space, which stays; "" at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in SPACE:
                    return self._held[self._at]
                self._move(self._at + 1)
            if not self._more():
                return ""

    def passes(self, character: str) -> bool:
        """Whether this is the next character, which is then passed over."""
        is_next = self.next_character() == character
        if is_next:
            self._move(self._at + 1)
        return is_next

    def value(self) -> Any:
        """The value that begins at the next character."""
        while True:
            try:
                value, end = self._json.raw_decode(self._held, self._at)
            except JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos >= len(self._held) - NEAR_THE_END
                )
                if self._is_whole or not is_cut:
                    self.refuse(error.pos)
            except (ValueError, RecursionError) as error:
                raise self._fatal(UNREADABLE, self._at) from error
            else:
                if self._is_whole or end < len(self._held):
                    self._move(end)
                    return value
            self._more()

    def refuse(self, at: int | None = None) -> NoReturn:
        """Raise the error for what stands here: the rest cannot be read either."""
        at = self._at if at is None else at
        raise self._fatal("malformed JSON" if at < len(self._held) else "JSON that ends early", at)

    def _move(self, to: int) -> None:
        self.line += self._held.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        """Whether there was more to read; what is done with is dropped first."""
        if self._is_whole:
            return False
        self._before = self._column(self._at) - 1
        self._held, self._at = self._held[self._at :], 0
        if len(self._held) > self._limit:
            problem, accepted = f"a value longer than {self._limit} characters", "shorter ones"
            raise self._faults.fatal(problem, line=self.line, accepted=accepted)
        # As much again as is held, so that a long value is tried few times.
        added, wanted = [], max(len(self._held), 1)
        while wanted > 0 and not self._is_whole:
            piece = self._decoded()
            added.append(piece)
            wanted -= len(piece)
        self._held += "".join(added)
        return any(added)

    def _decoded(self) -> str:
        try:
            piece = next(self._pieces, None)
            self._is_whole = piece is None
            return self._decoder.decode(piece or b"", final=self._is_whole)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].count(b"\n") + self._held.count("\n")
            raise self._faults.fatal("not UTF-8", line=self.line + before, accepted=UTF8) from error
        except InvalidDataError as error:
            raise self._faults.fatal(error.problem, line=self.line) from error

    def _fatal(self, problem: str, at: int) -> InvalidDataError:
        line, column = self.line + self._held.count("\n", self._at, at), self._column(at)
        found = self._held[at : at + 40]
        return self._faults.fatal(problem, line=line, column=column, found=found, accepted=ACCEPTED)

    def _column(self, at: int) -> int:
        line_end = self._held.rfind("\n", 0, at)
        return at + 1 + self._before if line_end < 0 else at - line_end


def _no_number(written: str) -> NoReturn:
    raise ValueError(f"{written} is no JSON")
