"""Imported once by the process that evaluations are forked from: all they need, ready to run."""

import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec

import app.evaluation.compare.leaderboard
import app.evaluation.run
import app.serving.jobs.workers.attempt  # noqa: F401
from app.kernels import kernels

with suppress(Exception):  # what cannot be prepared is done, or fails, where it is needed
    kernels("linear.text_scorer")

# New processes run the service's main module again unless they find it there already.
sys.modules["__main__"].__spec__ = ModuleSpec("app.main", None)
