"""A corpus several times as large: noised copies of its documents, to see how costs grow.

Copies stand in for data that is not there: every copy drops a tenth of the words, takes another
tenth from any other document, and spells one in two hundred anew, so that the vocabulary grows as
well. The first copy is the corpus itself. The same seed gives the same bytes.

    python scripts/studies/larger_corpus.py DATA/arxiv-cs60k/train.txt.gz 4 OUT.jsonl
    python scripts/studies/larger_corpus.py DATA/arxiv-cs60k/train.txt.gz 16 OUT/ --parts 64
"""

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from app.datasets.collection import Collection, load_collection

DROPPED, REPLACED, SPELLED_ANEW = 0.1, 0.1, 0.005


def copies(corpus: Collection, times: int, seed: int) -> Iterator[str]:
    """All documents of all copies, as JSON lines."""
    documents = list(zip(corpus.documents, corpus.label_sets, strict=True))
    words = np.array([word for text, _ in documents[::20] for word in text.split()])
    for copy in range(times):
        pick = np.random.default_rng((seed, copy))
        for number, (text, labels) in enumerate(documents):
            own = noised(text.split(), words, pick) if copy else text
            record = {"id": f"{copy}-{number}", "text": own, "labels": labels}
            yield json.dumps(record, ensure_ascii=False) + "\n"


def noised(own: list[str], words: np.ndarray, pick: np.random.Generator) -> str:
    """The words of a document with some of them lost, replaced or spelled anew."""
    chance = pick.random(len(own))
    others = words[pick.integers(len(words), size=len(own))]
    numbers = pick.integers(1_000_000, size=len(own))
    changed = []
    for word, draw, other, number in zip(own, chance, others, numbers, strict=True):
        if draw < DROPPED:
            continue
        if draw < DROPPED + REPLACED:
            changed.append(str(other))
        elif draw < DROPPED + REPLACED + SPELLED_ANEW:
            changed.append(f"{word}{number}")
        else:
            changed.append(word)
    return " ".join(changed)


def main() -> None:
    """Write the copies to one file, or to so many parts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data")
    parser.add_argument("times", type=int)
    parser.add_argument("output", type=Path)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    corpus = load_collection(given.data)
    lines = copies(corpus, given.times, given.seed)
    if given.parts == 1:
        with given.output.open("w", encoding="utf-8") as file:
            file.writelines(lines)
        return
    given.output.mkdir(parents=True, exist_ok=True)
    size = -(-len(corpus) * given.times // given.parts)
    for number in range(given.parts):
        with (given.output / f"{number:04}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(islice(lines, size))


if __name__ == "__main__":
    main()
