"""Without the extra `neural` every network names it, and nothing else needs it."""

import subprocess
import sys

from tests.learners.neural.made_up import NETWORKS

PROGRAM = """
import sys
for package in ("torch", "tokenizers", "safetensors"):
    sys.modules[package] = None
from app.errors import MissingExtraError
from app.learners import LEARNERS
from app.learners.base import learner_class
from app.vectorizers import VECTORIZERS
from app.vectorizers.base import vectorizer_class
for catalogue, find in ((LEARNERS, learner_class), (VECTORIZERS, vectorizer_class)):
    for kind in catalogue:
        try:
            find(kind)
        except MissingExtraError as error:
            print(kind, error.extra)
"""


def test_only_networks_need_the_extra_and_they_say_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120
    )
    refused = dict(line.split() for line in done.stdout.splitlines())
    assert refused == dict.fromkeys([*NETWORKS, "wordpieces"], "neural")
