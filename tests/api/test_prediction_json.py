"""JSON that is written in parts is the JSON that is written at once."""

from copy import deepcopy

import msgspec
import pytest

from app.api.prediction_json import LABELS_AT_ONCE, listed, written
from app.prediction.answers import Label, LabelReason, Prediction
from app.serving.unsent_answers import PIECE_BYTES, cut, joined

MANY = [Label(f'é "{number}" \n', number / 7, 0.5) for number in range(2 * LABELS_AT_ONCE + 1)]
TERMS = [LabelReason(term="paper", weight=0.5, at=[(1, 2), (3, 4)])]
PREDICTIONS = [
    Prediction([]),
    Prediction([Label("a", 1.0)], id='{"labels":['),
    Prediction(MANY[:LABELS_AT_ONCE], id="7", abstained=["b", "c"]),
    Prediction(MANY),
    Prediction([Label(name, 1.0, because=TERMS, bias=0.1, rest=0.0) for name in "abc"]),
]


@pytest.mark.parametrize("number", range(len(PREDICTIONS)))
def test_a_prediction_in_parts_is_the_same_and_gone(number: int) -> None:
    prediction = deepcopy(PREDICTIONS[number])
    expected = msgspec.json.encode(prediction)
    assert b"".join(written(prediction)) == expected
    assert prediction.labels == []


@pytest.mark.parametrize("count", [0, 1, len(PREDICTIONS)])
def test_predictions_in_parts_are_the_same_and_gone(count: int) -> None:
    predictions = deepcopy(PREDICTIONS[:count])
    expected = msgspec.json.encode(predictions)
    assert b"[" + b"".join(listed(predictions)) + b"]" == expected
    assert predictions == []


def test_pieces_are_of_a_size_that_is_sent_at_once() -> None:
    content = bytes(range(256)) * 4096
    assert b"".join(cut(content)) == content
    assert set(map(len, cut(content))) == {PIECE_BYTES}
    pieces = joined([content[:10], content[10:50], content[50:]])
    assert (len(pieces), b"".join(pieces)) == (2, content)
    assert b"".join(joined([])) == b""
