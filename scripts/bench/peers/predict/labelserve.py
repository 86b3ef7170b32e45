"""Our classifier from text to the five best labels: the artifact of one training, loaded."""

import os
from pathlib import Path

from timed_rounds import corpus, one_by_one, run_rounds

from app.artifacts.store import Store
from app.model import load_model

_, (test, _) = corpus()
model = load_model(Store(Path(os.environ["LABELSERVE_BENCH_MODELS"])), "debtags")
scorer = model.classifier.members[0].fused.scorer()
few = test[:1000]
scorer.batch_top_k(test[:2], 5)
scorer.top_k(test[0], 5)
run_rounds(
    {
        "batch": lambda: scorer.batch_top_k(test, 5),
        "one": lambda: one_by_one(few, lambda text: scorer.top_k(text, 5)),
    },
    version="labelserve",
)
