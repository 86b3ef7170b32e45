"""Where the tables and strings of a TOML file stand, which the standard reader does not tell."""

import re
from dataclasses import dataclass, field

HEADER = re.compile(r"[ \t]*\[\[[ \t]*([A-Za-z0-9_-]+)[ \t]*\]\]")
KEY = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*")
DELIMITERS = ('"""', "'''", '"', "'")
ESCAPED = {"u": 6, "U": 10}
"""How many characters such an escape takes; others take two."""


@dataclass(slots=True)
class TablePlaces:
    """Where a `[[table]]` begins, and of each key the key itself and its value's characters."""

    offset: int
    keys: dict[str, int] = field(default_factory=dict)
    characters: dict[str, list[int]] = field(default_factory=dict)
    """Key → where each character of its string stands; one more for its end."""

    def of(self, key: str, character: int = 0) -> int:
        """Where a character of the key's value stands; else the key, else the table."""
        places = self.characters.get(key)
        if places:
            return places[min(character, len(places) - 1)]
        return self.keys.get(key, self.offset)


def table_places(source: str, name: str) -> list[TablePlaces]:
    """The places of every `[[name]]` of a TOML file, in their order; its line ends are `\\n`."""
    tables: list[TablePlaces] = []
    at = 0
    while at < len(source):
        header, key = HEADER.match(source, at), KEY.match(source, at)
        if header is not None and header[1] == name:
            tables.append(TablePlaces(source.index("[", at)))
        elif key is not None:
            at = _read_value(source, key, tables)
        at = _next_line(source, at)
    return tables


def line_and_column(source: str, offset: int) -> tuple[int, int]:
    """The place as editors count: both from 1.

    >>> line_and_column("ab\\ncd", 4)
    (2, 2)
    """
    return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)


def _read_value(source: str, key: re.Match[str], tables: list[TablePlaces]) -> int:
    """Note a key and its value's characters; where the value ends."""
    characters, end = _string(source, key.end())
    if tables:
        tables[-1].keys.setdefault(key[1], key.start(1))
        if characters:
            tables[-1].characters.setdefault(key[1], characters)
    return end


def _next_line(source: str, at: int) -> int:
    end = source.find("\n", at)
    return len(source) if end < 0 else end + 1


def _string(source: str, start: int) -> tuple[list[int], int]:
    """Where the characters of the string at `start` stand, its end too; and what follows it.

    No places where there is no string.
    """
    quotes = next((quotes for quotes in DELIMITERS if source.startswith(quotes, start)), None)
    if quotes is None:
        return [], start
    at, places = start + len(quotes), []
    if len(quotes) == 3 and source.startswith("\n", at):
        at += 1  # a line end right after the quotes is not part of the string
    while at < len(source) and not source.startswith(quotes, at):
        if source[at] == "\\" and quotes[0] == '"':
            is_line_end = source[at + 1 : at + 2].isspace()
            places += [] if is_line_end else [at]
            at = _after_blanks(source, at + 1) if is_line_end else at + _escape_length(source, at)
        else:
            places.append(at)
            at += 1
    return [*places, at], at + len(quotes)


def _escape_length(source: str, at: int) -> int:
    return ESCAPED.get(source[at + 1 : at + 2], 2)


def _after_blanks(source: str, at: int) -> int:
    while at < len(source) and source[at].isspace():
        at += 1
    return at
