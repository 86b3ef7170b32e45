"""What is done in the views of files and evaluations before pictures.py takes their pictures."""

import json
from itertools import islice
from typing import Any

from app.datasets.demo.corpus import SEED, TEST, TRAIN, tickets

REPORT_SECONDS = 120


def test_set() -> bytes:
    """The demo's test set as JSON lines."""
    documents = islice(tickets(SEED), TRAIN, TRAIN + TEST)
    return "".join(json.dumps(document) + "\n" for document in documents).encode()


def label_table(page: Any) -> None:
    """A dropped table with its labels."""
    documents = [json.loads(line) for line in test_set().splitlines()]
    rows = [f"{one['id']};{one['text']}\n" for one in documents if ";" not in one["text"]]
    _drop(page, "tickets.csv", f"ticket;text\n{''.join(rows)}".encode())
    page.get_by_role("button", name="Label all rows").click()
    page.get_by_role("button", name="Download the table").wait_for()
    page.locator(".list").scroll_into_view_if_needed()


def check(page: Any) -> None:
    """What was read of the test set, before it is evaluated."""
    _drop(page, "test.jsonl", test_set())
    page.locator(".counts").wait_for()


def evaluate(page: Any, decision: str = "tuned") -> None:
    """The report of the test set."""
    check(page)
    page.get_by_label("Decision").fill(decision)
    page.get_by_role("button", name="Evaluate", exact=True).click()
    page.locator(".list").wait_for(timeout=1000 * REPORT_SECONDS)


def compare(page: Any) -> None:
    """Two evaluations of it side by side."""
    evaluate(page, "rank:2")
    page.get_by_role("link", name="Evaluate").click()
    evaluate(page)
    page.get_by_role("link", name="Evaluate").click()
    for row in (1, 2):
        page.get_by_role("row").nth(row).get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare").click()
    page.locator(".conclusion").wait_for(timeout=1000 * REPORT_SECONDS)


def review(page: Any) -> None:
    """A suspect label beside its text."""
    evaluate(page)
    page.get_by_role("link", name="Review labels").click()
    page.get_by_role("region", name="Text").wait_for()
    page.keyboard.press("k")


def _drop(page: Any, name: str, content: bytes) -> None:
    """A file, as if it were dropped."""
    file = {"name": name, "mimeType": "text/plain", "buffer": content}
    page.locator("input[type=file]").set_input_files(files=[file])
