"""The rows of a table with predictions: every row of the data in its place, and what was found."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from app.classifier import Classifier
from app.datasets.base import Record
from app.datasets.faults import Refused, with_refused
from app.datasets.layout import Cells
from app.datasets.reading import Reading
from app.prediction.answers import Prediction
from app.prediction.planning import abstains
from app.prediction.query import Query
from app.prediction.tables.added_cells import ABSTAINED, NEAR, answered, unanswered
from app.prediction.tables.base import TableRow

Predict = Callable[[Iterable[Record]], Iterator[Prediction]]
"""One prediction a document, in order; may read ahead."""


def table_rows(reading: Reading, predict: Predict, doubt: str) -> Iterator[TableRow]:
    """One row for each of the data's, in order, also for those that could not be read."""
    waiting: deque[Record | Refused] = deque()

    def documents() -> Iterator[Record]:
        for read in with_refused(reading, reading.refused):
            waiting.append(read)
            if isinstance(read, Record):
                yield read

    for prediction in predict(documents()):
        yield from _refused(waiting)
        record = waiting.popleft()
        assert isinstance(record, Record)  # noqa: S101
        yield predicted_row(record, prediction, doubt)
    yield from _refused(waiting)


def predicted_row(record: Record, prediction: Prediction, doubt: str) -> TableRow:
    """The row of a document that was answered."""
    return TableRow(_cells(record), answered(prediction, doubt), record.line)


def refused_row(refused: Refused) -> TableRow:
    """The row of a record that was not."""
    return TableRow(refused.cells, unanswered(refused.error))


def doubt_of(query: Query, classifier: Classifier) -> str:
    """Why labels are named in `review` under this query."""
    return ABSTAINED if abstains(query, classifier) else NEAR


def _refused(waiting: deque[Record | Refused]) -> Iterator[TableRow]:
    while waiting and isinstance(refused := waiting[0], Refused):
        waiting.popleft()
        yield refused_row(refused)


def _cells(record: Record) -> Cells:
    """The record as it was read; of a format without columns the id, or the line, and the text."""
    if record.cells is not None:
        return record.cells
    own = {"id": str(record.line) if record.id is None else record.id}
    return own if record.features is not None else {**own, "text": record.text}
