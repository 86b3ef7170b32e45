"""What pays on which corpus: words, first words, ratios, pairs, characters, stems, class weights.

    python scripts/studies/quality.py DATA_DIR [--only reuters,ohsumed] [--work 1.5e7]

Everything inside training data: each corpus' training documents (a sample where words × labels
pass `--work`), three shared folds, cuts of the other folds. A row a candidate, micro-F1 / macro-F1
at the C of the highest micro-F1. Test sets are not opened.
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

from app.datasets.collection import load_collection
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.fold_plan import FoldPlan
from app.training.recipe import Recipe
from app.training.search.candidates import beside
from app.training.search.choice import choice
from app.training.search.objectives import OBJECTIVES
from app.training.search.search import mean_words
from app.training.search.trial_sample import trial_sample
from app.training.search.trials import SampleFeatures, trials_of
from app.training.tuning.tuning_space import default_space

CORPORA = ("reuters", "ohsumed", "go_emotions", "debtags", "arxiv-cs60k")
MICRO = OBJECTIVES["micro"]


def studied(file: Path, work: float, seed: int) -> dict[str, str]:
    """Each candidate's figures on one corpus, and its C."""
    data = load_collection(file)
    truth = LabelIndex.of(data.label_sets).truth(data.label_sets)
    words = mean_words(data.documents)
    sample = trial_sample(data.documents, truth, FoldPlan(), words=words, most_work=work, seed=seed)
    fitting, cells = Fitting(seed=seed), dict[str, str]()
    features, cost = SampleFeatures(sample, fitting), None
    sizes = sample.figures()
    print(f"{file.parent.name}: {sizes}, {words:.0f} words a document", flush=True)
    recipe = Recipe().completed()
    for candidate in default_space(recipe, mean_words=words, learners=[]):
        start = process_time()
        tried = trials_of(
            beside(candidate, cost), sample, features, objective=MICRO, fitting=fitting
        )
        if cost is None:
            plain = next(trial for trial in tried if trial.cost == 1)
            cells["words, C = 1"] = _cell(plain.figures(), 1.0)
        best = choice(tried, MICRO).trial
        cost = cost or best.cost
        cells[candidate.name] = _cell(best.figures(), best.cost)
        seconds = process_time() - start
        print(f"  {candidate.name}: {cells[candidate.name]}, {seconds:.1f} CPU s", flush=True)
    return cells


def _cell(figures: dict[str, Any], cost: float | None) -> str:
    return f"{figures['micro_f1']:.3f} / {figures['macro_f1']:.3f} ({cost:g})"


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--only", default=",".join(CORPORA))
    arguments.add_argument("--work", type=float, default=1.5e7)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    columns = {}
    for corpus in given.only.split(","):
        columns[corpus] = studied(given.data / corpus / "train.txt.gz", given.work, given.seed)
    names = list(dict.fromkeys(name for cells in columns.values() for name in cells))
    print(f"\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name in names:
        print(f"| {name} | {' | '.join(cells.get(name, '–') for cells in columns.values())} |")


if __name__ == "__main__":
    main()
