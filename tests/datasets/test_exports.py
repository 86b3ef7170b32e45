"""Exports, each as its tool writes it: what is text, what is a label, what is neither."""

import json
from typing import Any

import pytest

from app.errors import InvalidDataError
from tests.datasets.cases import read


def found(data: Any, **options: object) -> list[tuple[str | None, tuple[str, ...], str]]:
    """Ids, labels and texts of objects, which are the same as an array and as lines."""
    as_array = json.dumps(data).encode()
    as_lines = "".join(json.dumps(each) + "\n" for each in data).encode()
    documents = [(d.id, d.labels, d.text) for d in read(as_array, format="json", **options)]
    assert documents == [(d.id, d.labels, d.text) for d in read(as_lines, **options)]
    return documents


def annotation(number: int, choices: list[str] | None, **changed: Any) -> dict[str, Any]:
    """What Label Studio 1.x keeps of one annotation of a task."""
    result = {
        "value": {"choices": choices},
        "id": f"r{number}",
        "from_name": "topic",
        "to_name": "text",
        "type": "choices",
        "origin": "manual",
    }
    return {
        "id": number,
        "completed_by": 1,
        "result": [] if choices is None else [result],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": f"2024-05-0{number}T10:00:00.000000Z",
        "updated_at": f"2024-05-0{number}T10:00:00.000000Z",
        "lead_time": 3.25,
        "prediction": {},
        "result_count": 0,
        "unique_id": f"0b1c{number}",
        "last_action": None,
        "task": 41,
        "project": 7,
        "updated_by": 1,
        "parent_prediction": None,
        "parent_annotation": None,
    } | changed


def task(*annotations: dict[str, Any], **data: str) -> dict[str, Any]:
    """A task as Label Studio's export JSON has it."""
    return {
        "id": 41,
        "annotations": list(annotations),
        "file_upload": "1a2b3c4d-tickets.csv",
        "drafts": [],
        "predictions": [{"result": [{"value": {"choices": ["guessed"]}, "from_name": "topic"}]}],
        "data": data or {"text": "The invoice is wrong"},
        "meta": {},
        "created_at": "2024-05-01T09:00:00.000000Z",
        "updated_at": "2024-05-02T09:00:00.000000Z",
        "inner_id": 1,
        "total_annotations": len(annotations),
        "cancelled_annotations": 0,
        "total_predictions": 1,
        "comment_count": 0,
        "unresolved_comment_count": 0,
        "last_comment_updated_at": None,
        "project": 7,
        "updated_by": 1,
        "comment_authors": [],
    }


def test_label_studio_gives_the_choices_of_the_last_annotation() -> None:
    first, last = annotation(1, ["billing"]), annotation(2, ["billing", "late payment"])
    cancelled = annotation(3, ["spam"], was_cancelled=True)
    assert found([task(first, last, cancelled)]) == [
        ("41", ("billing", "late payment"), "The invoice is wrong")
    ]
    truth = annotation(1, ["refund"], ground_truth=True)
    assert found([task(truth, last)])[0][1] == ("refund",)


def test_label_studio_tasks_without_an_annotation_that_counts_are_unlabelled() -> None:
    tasks = [task(), task(annotation(1, ["a"], was_cancelled=True)), task(annotation(1, None))]
    assert [labels for _, labels, _ in found(tasks)] == [(), (), ()]


def test_label_studio_controls_and_data_are_named_by_the_options() -> None:
    both = annotation(1, ["billing"])
    both["result"].append(
        {"value": {"choices": ["angry"]}, "from_name": "mood", "to_name": "t", "type": "choices"}
    )
    tasks = [task(both, body="x", subject="y")]
    columns = {"text_columns": ("subject", "body")}
    assert found(tasks, label_column="mood", **columns) == [("41", ("angry",), "y\nx")]
    assert found(tasks, label_column="*", **columns)[0][1] == ("billing", "angry")
    with pytest.raises(InvalidDataError, match=r"several questions.*there are: topic, mood"):
        found(tasks, **columns)
    with pytest.raises(InvalidDataError, match=r'no key "text".*did you mean --text-columns body'):
        found(tasks)


def test_label_studio_min_gives_the_choices_between_id_and_annotator() -> None:
    end = {
        "annotator": 1,
        "annotation_id": 9,
        "created_at": "2024-05-01T10:00:00.000000Z",
        "updated_at": "2024-05-01T10:00:00.000000Z",
        "lead_time": 4.5,
    }
    tasks = [
        {"text": "a", "id": 1, "topic": "billing", **end},
        {"text": "b", "id": 2, "topic": {"choices": ["billing", "late, again"]}, **end},
        {"text": "c", "id": 3, **end},
    ]
    assert [labels for _, labels, _ in found(tasks)] == [
        ("billing",),
        ("billing", "late, again"),
        (),
    ]
    spans = [{"text": "a", "id": 1, "ner": [{"start": 0, "end": 1, "labels": ["X"]}], **end}]
    with pytest.raises(InvalidDataError, match="no choices"):
        found(spans)


def test_label_studio_writes_several_choices_into_a_cell_of_a_table_as_json() -> None:
    data = (
        b"annotation_id,annotator,id,text,topic\n"
        b'1,1,1,a,billing\n2,1,2,b,"{""choices"": [""billing"", ""late""]}"\n3,1,3,c,\n'
    )
    documents = read(data, format="csv", label_column="topic")
    assert [d.labels for d in documents] == [("billing",), ("billing", "late"), ()]


def test_doccano_gives_its_labels_as_lists() -> None:
    tasks = [
        {"id": 5, "text": "a", "label": ["late", "billing"], "Comments": []},
        {"id": 6, "text": "b", "label": [], "Comments": ["unsure"]},
    ]
    assert found(tasks) == [("5", ("late", "billing"), "a"), ("6", (), "b")]
    assert found([{"id": 5, "text": "a", "cats": ["x"], "entities": []}])[0][1] == ("x",)
    with pytest.raises(InvalidDataError, match="spans"):
        found([{"id": 5, "text": "a b", "label": [[0, 1, "LOC"]], "Comments": []}])


def test_doccano_joins_labels_by_a_hash_in_tables() -> None:
    cells = ["late#billing", "billing", "late", "late#spam", "spam#billing", "spam"]
    rows = "".join(f"{i},text {i},{cell}\n" for i, cell in enumerate(cells))
    documents = read(f"id,text,label\n{rows}".encode(), format="csv", label_column="label")
    assert documents[0].labels == ("late", "billing")
    assert len({label for d in documents for label in d.labels}) == 3


def prodigy(text: str, answer: str, **more: Any) -> dict[str, Any]:
    """A line of `prodigy db-out`."""
    return {
        "text": text,
        "meta": {"source": "tickets"},
        "_input_hash": 1204982,
        "_task_hash": -88213,
        **more,
        "answer": answer,
        "_timestamp": 1714557600,
        "_annotator_id": "t-anna",
        "_session_id": "t-anna",
    }


def test_prodigy_gives_the_options_that_were_accepted() -> None:
    options = [{"id": "BILLING", "text": "BILLING"}, {"id": "LATE", "text": "LATE"}]
    choice = {
        "options": options,
        "_view_id": "choice",
        "config": {"choice_style": "multiple"},
    }
    tasks = [
        prodigy("a", "accept", **choice, accept=["BILLING", "LATE"]),
        prodigy("b", "accept", **choice, accept=[]),
        prodigy("c", "ignore", **choice, accept=["LATE"]),
        prodigy("d", "reject", **choice, accept=["LATE"]),
    ]
    assert [labels for _, labels, _ in found(tasks)] == [("BILLING", "LATE"), (), (), ()]


def test_prodigy_gives_the_one_label_that_was_asked_about_or_the_categories() -> None:
    binary = {"label": "LATE, ONCE, AGAIN", "_view_id": "classification"}
    tasks = [prodigy("a", "accept", **binary), prodigy("b", "reject", **binary)]
    assert [labels for _, labels, _ in found(tasks)] == [("LATE, ONCE, AGAIN",), ()]
    categories = [prodigy("a", "accept", cats={"BILLING": 1.0, "LATE": 0.0, "SPAM": True})]
    assert found(categories)[0][1] == ("BILLING", "SPAM")


def argilla(text: str, responses: dict[str, Any]) -> dict[str, Any]:
    """A record as `dataset.records.to_json` of Argilla 2 writes it."""
    return {
        "id": "f6f0c2",
        "fields": {"text": text},
        "metadata": {"source": "mail"},
        "suggestions": {"topics": {"value": ["guessed"], "score": [0.9], "agent": "model"}},
        "responses": responses,
        "vectors": {},
        "_server_id": "c1c0de",
    }


def test_argilla_gives_the_first_submitted_response() -> None:
    anna = {"value": ["billing", "late"], "user_id": "a1"}
    otto = {"value": ["spam"], "user_id": "b2"}
    tasks = [
        argilla("a", {"topics": [anna, otto]}),
        argilla("b", {"topics": [{"value": "one", "user_id": "a1"}]}),
        argilla("c", {}),
        argilla("d", {"topics": [anna | {"status": "draft"}, otto | {"status": "submitted"}]}),
    ]
    assert [labels for _, labels, _ in found(tasks)] == [
        ("billing", "late"),
        ("one",),
        (),
        ("spam",),
    ]
    two = [argilla("a", {"topics": [anna], "mood": [{"value": "angry", "user_id": "a1"}]})]
    assert found(two, label_column="mood")[0][1] == ("angry",)


def test_hugging_face_ids_and_marks_become_names() -> None:
    names = {"label_names": ("sport", "politics", "culture")}
    assert [labels for _, labels, _ in found([{"text": "a", "label": 2}], **names)] == [
        ("culture",)
    ]
    lists = [{"text": "a", "labels": [0, 2]}, {"text": "b", "labels": []}]
    assert [labels for _, labels, _ in found(lists, **names)] == [("sport", "culture"), ()]
    marks = [{"text": "a", "labels": [0.0, 1.0, 1.0]}, {"text": "b", "labels": [0.0, 0.0, 0.0]}]
    assert [labels for _, labels, _ in found(marks, **names)] == [("politics", "culture"), ()]
    with pytest.raises(InvalidDataError, match="no name; accepted: ids from 0 to 2"):
        found([{"text": "a", "label": 3}], **names)
    with pytest.raises(InvalidDataError, match="accepted: --label-names FILE"):
        found([{"text": "a", "label": 3}])


def test_strings_of_labels_are_split_as_in_tables() -> None:
    tasks = [{"text": "a", "labels": "x; y"}, {"text": "b", "labels": "y"}]
    assert [labels for _, labels, _ in found(tasks)] == [("x", "y"), ("y",)]


def test_an_unknown_shape_is_refused_with_the_keys_found() -> None:
    data = b'[{"headline": "a", "section": "b"}]'
    with pytest.raises(InvalidDataError) as caught:
        read(data)
    assert "there are: headline, section" in str(caught.value)
    assert "Label Studio" in caught.value.accepted
    assert "headline" not in caught.value.without_content()
    with pytest.raises(InvalidDataError, match=r'no key "text".*there are: headline, section'):
        read(b'{"headline": "a", "section": "b"}')


def test_a_task_of_another_shape_is_refused_or_skipped_by_its_line() -> None:
    lines = json.dumps(task(annotation(1, ["a"]))) + '\n{"id": 3}\n{"data": {"text": 4}}\n'
    with pytest.raises(InvalidDataError, match='2:1: no key "text"'):
        read(lines.encode())
    assert len(read(lines.encode(), on_error="skip")) == 1
