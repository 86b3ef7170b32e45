"""CSV in, CSV out: a document a row, given back with its labels beside it."""

from collections.abc import Iterator, Sequence

from starlette.types import Scope

from app.api.http.bodies import refuse_workbook
from app.api.http.request_context import RequestContext
from app.api.predictor import Predictor
from app.api.schemas import TableParameters
from app.api.streams.base import sent_parameters
from app.datasets.base import Record
from app.datasets.faults import Refused
from app.datasets.formats.csv_stream import CsvStream
from app.datasets.input.limits import Limits
from app.errors import AppError, InvalidDataError, InvalidRequestError, PayloadTooLargeError
from app.prediction.answers import Prediction
from app.prediction.tables.added_cells import NO_ANCESTORS
from app.prediction.tables.base import TableForm
from app.prediction.tables.csv import CsvRows
from app.prediction.tables.label_joining import label_joining
from app.prediction.tables.rows import doubt_of, predicted_row, refused_row
from app.serving.registry import Loaded
from app.serving.unsent_answers import cut
from app.settings import Settings

Row = Record | Refused


class CsvExchange:
    """The same table as `predict --output FILE.csv` writes.

    A row that cannot be read refuses the body while the answer has not begun; later, and with
    `on_error=skip`, it comes back with the reason in its column `review`.
    """

    content_type, waits_for_documents = b"text/csv; charset=utf-8", True

    def __init__(self, scope: Scope, predictor: Predictor, settings: Settings) -> None:
        self.parameters = sent_parameters(scope, TableParameters)
        self._predictor = predictor
        self._options = self.parameters.reading(Limits(max_line_bytes=settings.max_body_bytes))
        self._stream, self._is_first = CsvStream(self._options), True
        self._doubt = self._separator = ""

    def prepare(self, loaded: Loaded) -> None:
        """Refuse a separator that is part of a label, and ancestors, which have no column."""
        query = self.parameters.query()
        if query.ancestors:
            raise InvalidRequestError(NO_ANCESTORS, pointer="/ancestors")
        classifier = loaded.model.classifier
        asked, trained = self.parameters.label_separator, loaded.model.label_separator
        self._separator = label_joining(asked, trained, classifier.answered_labels.names)
        self._doubt = doubt_of(query, classifier)

    def count(self, body: bytes) -> int:
        """How many rows there are; the first one that cannot be read is raised."""
        refuse_workbook(body)
        stream, pieces, count = CsvStream(self._options), cut(body), 0
        while pieces:
            piece = pieces.popleft()
            found = stream.feed(piece, is_last=not pieces)
            self._raise_bad(found, stream)
            count += len(found)
        return count

    def feed(self, piece: bytes, *, is_last: bool) -> list[Row]:
        """The documents of the rows that are complete with this piece."""
        if self._is_first:
            refuse_workbook(piece)
            self._is_first = False
        return [self._checked(row) for row in self._stream.feed(piece, is_last=is_last)]

    def refuse(self, first: list[Row]) -> None:
        """Raise the first row that cannot be read."""
        self._raise_bad(first, self._stream)

    def text(self, item: Row) -> str | AppError:
        """The text of a row, or its error."""
        return item.text if isinstance(item, Record) else item.error

    def opening(self) -> bytes:
        """The header."""
        self._rows = CsvRows(TableForm(self._stream.layout, self._separator))
        return self._rows.header()

    def written(
        self, item: Row, outcome: Prediction | AppError, context: RequestContext
    ) -> Iterator[bytes]:
        """One row."""
        if isinstance(item, Record) and isinstance(outcome, Prediction):
            yield self._rows.row(predicted_row(item, outcome, self._doubt))
        elif isinstance(outcome, AppError):
            yield self._rows.row(refused_row(Refused(outcome, item.cells or ())))

    def _checked(self, row: Row) -> Row:
        """The row; refused where its text is longer than texts may be."""
        try:
            if isinstance(row, Record):
                self._predictor.check([row.text])
        except PayloadTooLargeError as error:
            return Refused(error, row.cells or ())
        return row

    def _raise_bad(self, rows: Sequence[Row], stream: CsvStream) -> None:
        bad = [row.error for row in rows if isinstance(row, Refused)]
        unread = [error for error in bad if isinstance(error, InvalidDataError)]
        if unread and self._options.on_error == "fail":
            raise unread[0]
        if stream.fatal is not None:
            raise stream.fatal
