"""Why a fit takes longer a document where there are more: passes, visits, and the price of a visit.

For some blocks of sixteen labels: how often a document was visited on average until the block
ended, and the CPU nanoseconds a visited feature took (two reads of its weights and a write of it
together, when the document moved). Corpora of several sizes are made by larger_corpus.py.

    python scripts/studies/fit_growth.py x1.jsonl x4.jsonl x16.jsonl --blocks 0,4,8
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from app.datasets.collection import load_collection
from app.kernels import kernels
from app.kernels.solver.types import unsolved
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.linear.block_training import BlockTraining
from app.learners.one_vs_rest import OneVsRest
from app.vectorizers.tfidf import Tfidf

LANES = 16


def main() -> None:
    """Print a line a corpus and block."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--blocks", default="0,4")
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    print("documents  features  block  passes  visits/doc  ns/feature  CPU s")
    for data in given.data:
        blocks = training(data, given.scratch)
        for number in map(int, given.blocks.split(",")):
            print(measured(blocks, number), flush=True)


def training(data: str, scratch: Path | None) -> BlockTraining:
    """The solver's view of a corpus."""
    corpus = load_collection(data, scratch=scratch)
    truth = LabelIndex.of(corpus.label_sets).truth(corpus.label_sets)
    features = Tfidf(scheme="log").fit_transform(corpus.documents, jobs=2)
    return BlockTraining(OneVsRest().problem(features, truth), Fitting(), None)


def measured(blocks: BlockTraining, number: int) -> str:
    """One block's descent: what it did and what that took."""
    labels = blocks.learnable[number * LANES : (number + 1) * LANES]
    block, rows = blocks.block(labels), blocks.documents.rows
    n_documents, n_features = blocks.problem.n_documents, len(blocks.documents.kept)
    solution = unsolved(n_features, n_documents, blocks.loss)
    start = time.thread_time()
    passes, visits = kernels("solver.block_descent").descend(
        rows, block, solution, blocks.every_document, np.float32(blocks.tolerance), number
    )
    seconds = time.thread_time() - start
    visited = visits * len(rows.columns) / n_documents
    return (
        f"{n_documents:9,}  {n_features:8,}  {number:5}  {passes:6}  {visits / n_documents:10.1f}"
        f"  {1e9 * seconds / visited:10.2f}  {seconds:5.1f}"
    )


if __name__ == "__main__":
    main()
