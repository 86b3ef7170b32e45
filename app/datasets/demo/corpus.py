"""The demo corpus: support tickets of a made-up company, the same bytes every time."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from random import Random

from app.datasets.demo.words import BLOCKS, CHATTER, CLOSINGS, GREETINGS, SLOTS

TRAIN, TEST, SEED = 3200, 800, 12
MOST_LABELS = 5
VAGUE = 0.25  # a sentence that fits several labels
SILENT = 0.1  # a label the ticket carries, but does not speak of
FORGOTTEN = 0.05  # a label the agent did not tick
TYPO = 0.015
DEVICES = {
    "camera": "camera",
    "thermostat": "thermo",
    "doorbell": "bell",
    "hub": "hub",
    "plug": "plug",
}
KEPT = {"device", "order", "mail", "phone", "plan", "version", "room"}  # one of each a ticket


@dataclass
class Topic:
    """One label: how often it opens a ticket, what comes with it, and what people then write."""

    weight: float
    partners: list[tuple[str, float]]
    sentences: list[str] = field(default_factory=list)
    vague: list[str] = field(default_factory=list)


def write_demo(folder: Path) -> dict[str, int]:
    """Write `train.jsonl` and `test.jsonl`; how many documents went into each."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"train.jsonl": TRAIN, "test.jsonl": TEST}
    written = tickets(SEED)
    for name, count in counts.items():
        lines = [json.dumps(next(written), ensure_ascii=False) for _ in range(count)]
        (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode())
    return counts


def tickets(seed: int) -> Iterator[dict[str, object]]:
    """Tickets without end, no text twice.

    Only `random()` is drawn: its numbers are the same in every version of Python.
    """
    author = _Author(Random(seed), _topics())  # noqa: S311 - not for secrets
    written: set[str] = set()
    while True:
        labels = author.labels()
        text, ticked = author.text(labels), author.ticked(labels)
        if text not in written:
            written.add(text)
            yield {"id": f"T-{len(written):05d}", "text": text, "labels": ticked}


def _topics() -> dict[str, Topic]:
    topics: dict[str, Topic] = {}
    vague: list[tuple[str, str]] = []
    heading = ""
    for line in BLOCKS.strip().split("\n"):
        if not line.endswith((".", "?", "!")):
            heading = line.split(" ")[0]
            if "+" not in heading:
                topics[heading] = _topic(line)
        elif "+" in heading:
            vague += [(label, line) for label in heading.split("+")]
        else:
            topics[heading].sentences.append(line)
    for label, line in vague:
        topics[label].vague.append(line)
    return topics


def _topic(heading: str) -> Topic:
    _, weight, *partners = heading.split(" ")
    pairs = [partner.split(":") for partner in partners]
    return Topic(float(weight), [(name, float(chance)) for name, chance in pairs])


class _Author:
    """Writes one ticket after another, drawing from one generator."""

    def __init__(self, random: Random, topics: dict[str, Topic]) -> None:
        self._random, self._topics = random, topics
        self._chatter = CHATTER.strip().split("\n")

    def labels(self) -> list[str]:
        """What a ticket is about: a topic by its weight, and what comes with it."""
        left = self._random.random() * sum(topic.weight for topic in self._topics.values())
        ends = accumulate(topic.weight for topic in self._topics.values())
        label = next(one for one, end in zip(self._topics, ends, strict=True) if left < end)
        partners = self._topics[label].partners
        return [label, *(name for name, chance in partners if self._happens(chance))][:MOST_LABELS]

    def ticked(self, labels: list[str]) -> list[str]:
        """The labels an agent gave: nearly always all, and the first one always."""
        return [label for i, label in enumerate(labels) if i == 0 or not self._happens(FORGOTTEN)]

    def text(self, labels: list[str]) -> str:
        """What the customer wrote."""
        body = [sentence for i, label in enumerate(labels) for sentence in self._about(label, i)]
        for _ in range(int(self._random.random() * 4)):
            place = int(self._random.random() * (len(body) + 1))
            body.insert(place, self._one_of(self._chatter))
        body = list(dict.fromkeys(body))
        if self._happens(0.6):
            body.insert(0, self._one_of(GREETINGS.split("|")))
        if self._happens(0.6):
            body.append(self._one_of(CLOSINGS.split("|")))
        devices = [DEVICES[label] for label in labels if label in DEVICES]
        known = {"device": self._filler(devices[0])} if devices else {}
        filled = re.sub(r"\{(\w+)\}", lambda slot: self._kept(slot[1], known), " ".join(body))
        return " ".join(map(self._typed, filled.split(" ")))

    def _about(self, label: str, place: int) -> list[str]:
        """One or two sentences on a label; at times none, if it is not the first."""
        topic = self._topics[label]
        if place and self._happens(SILENT):
            return []
        said = [self._seldom_last(topic.sentences)]
        if topic.vague and self._happens(VAGUE):
            said = [self._one_of(topic.vague)]
        if self._happens(0.3):
            said.append(self._one_of(topic.vague or topic.sentences))
        return said

    def _kept(self, slot: str, known: dict[str, str]) -> str:
        """A filler; a ticket speaks of one device, order, room and so on."""
        filler = known.get(slot) or self._filler(slot)
        if slot in KEPT:
            known[slot] = filler
        return filler

    def _filler(self, slot: str) -> str:
        return self._one_of(SLOTS[slot].split("|"))

    def _typed(self, word: str) -> str:
        """The word, at times with two letters swapped or one left out."""
        if len(word) < 4 or not self._happens(TYPO):
            return word
        place = 1 + int(self._random.random() * (len(word) - 2))
        swapped = word[place : place + 2][::-1] if self._happens(0.5) else word[place + 1]
        return word[:place] + swapped + word[place + 2 :]

    def _happens(self, chance: float) -> bool:
        return self._random.random() < chance

    def _seldom_last(self, choices: list[str]) -> str:
        """One of the choices; the later it stands in the list, the less often."""
        share = self._random.random()
        return choices[int(share * share * len(choices))]

    def _one_of(self, choices: list[str]) -> str:
        return choices[int(self._random.random() * len(choices))]
