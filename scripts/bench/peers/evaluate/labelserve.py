"""labelserve: a file in, the whole report out."""

import os
from pathlib import Path

from timed_rounds import run_rounds

from app.artifacts.store import Store
from app.datasets import open_dataset
from app.evaluation import EvaluationOptions, evaluate
from app.evaluation.options import JudgedModel
from app.model import load_model

FOLDER = Path(os.environ["LABELSERVE_BENCH_MODELS"]).parent
model = load_model(Store(FOLDER / "models"), "evaluated")
model.classifier.scores(["a first text, so that everything is loaded"])


def report():
    """Some figures of the report, to see that both sides do the same work."""
    documents = open_dataset(FOLDER / "evaluated-test.txt")
    options = EvaluationOptions(decision="zero")
    found = evaluate(model.classifier, documents, options, info=JudgedModel.of(model)).as_dict()
    return {"micro_f1": found["decisions"]["micro"]["f1"], "p1": found["ranking"]["P@1"]}


run_rounds({"file": report})
