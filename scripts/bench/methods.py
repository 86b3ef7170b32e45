"""All learners side by side on real corpora: the table of docs/methods.md.

Each cell is a process of its own: defaults, one processor, cuts tuned out of fold, the test set
opened once. `--data DIR` has a folder a corpus, `--limit S` ends a cell after so many CPU seconds.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

from app.datasets.collection import load_collection
from app.errors import AppError
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.headline_figures import headline_figures
from app.evaluation.run import evaluate
from app.learners import LEARNERS
from app.training.publish import documents_of
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods.md"
CORPORA = ("reuters", "ohsumed", "debtags", "go_emotions", "arxiv-msc-20k")
METHODS = {
    "one-vs-rest": ("terms", "yes"),
    "cost-sensitive": ("terms", "yes"),
    "tree": ("–", "yes"),
    "llsf": ("terms", "yes"),
    "perceptron": ("terms", "yes"),
    "rocchio": ("terms", "yes"),
    "naive-bayes": ("terms", "yes"),
    "knn": ("neighbours", "no: it keeps the documents"),
    "decision-tree": ("the path", "yes"),
    "rules": ("the rule", "yes"),
    "experts": ("–", "yes"),
    "word": ("terms", "no: label names"),
    "mlp": ("terms, estimated", "yes"),
}
"""Learner → how it explains a label, and whether it needs training."""
FIGURES = {
    "micro-F1": "micro.f1",
    "macro-F1": "macro.f1",
    "P@1": "P@1",
    "11-point": "eleven_point",
    "break-even": "break_even",
    "a cut a label": "break_even_per_label",
}
COSTS = {"CPU s": "seconds", "µs a document": "microseconds", "MB": "megabytes", "peak MB": "peak"}


def measured(folder: Path, learner: str) -> dict[str, Any]:
    """The figures of one learner on one corpus; `refused` where it says why not."""
    train_set, test_set = (load_collection(_file(folder, part)) for part in ("train", "test"))
    start = process_time()
    try:
        trained = train(TrainingJob(train_set, read_recipe(None, learner=learner)))
    except AppError as error:
        return {"refused": str(error)}
    seconds = process_time() - start
    start = process_time()
    trained.classifier.scores(test_set.documents)
    microseconds = (process_time() - start) / len(test_set) * 1e6
    info = JudgedModel(
        training_counts=trained.info.training_counts, n_training_documents=len(train_set)
    )
    options = EvaluationOptions(check_seen=False)
    report = evaluate(trained.classifier, documents_of(test_set), options, info=info).as_dict()
    return {
        **headline_figures(report),
        "seconds": seconds,
        "microseconds": microseconds,
        "megabytes": trained.info.figures["size"]["bytes"] / 1e6,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def table(found: dict[str, dict[str, Any]]) -> str:
    """The cells measured so far as Markdown: a table a corpus, by falling micro-F1."""
    parts = []
    for corpus in dict.fromkeys(key.partition("/")[0] for key in found):
        own = {key.partition("/")[2]: v for key, v in found.items() if key.startswith(f"{corpus}/")}
        parts.append(f"### {corpus}\n\n" + "\n".join(_lines(own)))
    return "\n\n".join(parts)


def _lines(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    columns = ["learner", *FIGURES, *COSTS, "explains by", "needs training?"]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for learner, own in sorted(found.items(), key=lambda item: -item[1].get("micro.f1", -1)):
        explains, trains = METHODS[learner]
        if "refused" in own:
            cells = [own["refused"], *[""] * (len(FIGURES) + len(COSTS) - 1)]
        else:
            cells = [f"{own[name]:.3f}" for name in FIGURES.values()]
            cells += [f"{own[name]:,.1f}" for name in COSTS.values()]
        yield f"| {' | '.join([f'`{learner}`', *cells, explains, trains])} |"


def write(found: dict[str, dict[str, Any]], page: Path = PAGE) -> None:
    """Replace what is between the page's markers."""
    text = f"<!-- methods -->\n{table(found)}\n<!-- /methods -->"
    pattern = re.compile(r"<!-- methods -->.*?<!-- /methods -->", re.DOTALL)
    page.write_text(pattern.sub(lambda _: text, page.read_text()))


def cell(data: Path, corpus: str, learner: str, limit: int) -> dict[str, Any]:
    """The figures by a process of its own, ended after `limit` CPU seconds."""
    command = [sys.executable, __file__, "--one", corpus, learner, "--data", str(data)]

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=bound, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [""]
        return {"refused": f"over {limit} CPU s" if done.returncode < 0 else last[0]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure what the file of results lacks, corpus by corpus, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--one", nargs=2, metavar=("CORPUS", "LEARNER"))
    parser.add_argument("--results", type=Path, default=ROOT / ".cache" / "methods.json")
    parser.add_argument("--corpora", nargs="*", default=CORPORA)
    parser.add_argument("--learners", nargs="*", default=[m for m in METHODS if m in LEARNERS])
    parser.add_argument("--limit", type=int, default=720, help="CPU seconds a cell")
    given = parser.parse_args()
    if given.one:
        corpus, learner = given.one
        print(json.dumps(measured(given.data / corpus, learner)))
        return
    found = json.loads(given.results.read_text()) if given.results.exists() else {}
    for corpus in given.corpora:
        for learner in given.learners:
            if f"{corpus}/{learner}" not in found:
                found[f"{corpus}/{learner}"] = cell(given.data, corpus, learner, given.limit)
                given.results.parent.mkdir(parents=True, exist_ok=True)
                given.results.write_text(json.dumps(found, indent=1))
    write(found)


def _file(folder: Path, part: str) -> Path:
    return sorted(folder.glob(f"{part}.*"))[0]


if __name__ == "__main__":
    main()
