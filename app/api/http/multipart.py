"""multipart/form-data as a stream: the bytes of its fields `file`, whatever their size."""

from collections.abc import Callable

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.errors import InvalidRequestError, MalformedBodyError

FIELD = b"file"
LONGEST_HEADER = 4096

Write = Callable[[bytes], None]
OpenFile = Callable[[str], Write]
"""(file name as sent) → where the bytes of this file go."""


class FileFields:
    """Passes the fields' bytes on; other fields are refused, so is a body without one."""

    def __init__(self, content_type: bytes, open_file: OpenFile) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not boundary:
            raise MalformedBodyError("the multipart body names no boundary")
        self._open_file = open_file
        self._write: Write = lambda data: None
        self._name, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._files, self.is_complete = 0, False
        self._parser = self._parsing(boundary)

    def feed(self, data: bytes) -> None:
        """The next bytes of the body."""
        try:
            self._parser.write(data)
        except FormParserError:
            raise MalformedBodyError("the body is not multipart/form-data") from None

    def close(self) -> None:
        """The body has ended: was it whole, and was the field there?"""
        if not self.is_complete:
            raise MalformedBodyError("the multipart body ends too early")
        if not self._files:
            raise InvalidRequestError("the multipart body has no field `file`")

    def _parsing(self, boundary: bytes) -> MultipartParser:
        try:
            return MultipartParser(
                boundary,
                {
                    "on_part_begin": self._headers.clear,
                    "on_header_field": self._on_name,
                    "on_header_value": self._on_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers,
                    "on_part_data": lambda data, start, end: self._write(data[start:end]),
                    "on_end": self._on_end,
                },
                max_header_size=LONGEST_HEADER,
            )
        except FormParserError:
            raise MalformedBodyError("the multipart boundary is too long") from None

    def _on_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def _on_headers(self) -> None:
        options = parse_options_header(self._headers.get(b"content-disposition", b""))[1]
        if options.get(b"name") != FIELD:
            raise InvalidRequestError("the multipart body has fields `file`, and no others")
        self._files += 1
        self._write = self._open_file(options.get(b"filename", b"").decode(errors="replace"))

    def _on_end(self) -> None:
        self.is_complete = True
