"""Trials of any learner that has no short cut: fitted once a fold, as it would be in training."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from time import process_time

from app.errors import InvalidRequestError
from app.learners.base import Fitting, learner_class
from app.learners.out_of_fold.fitting import out_of_fold
from app.training.members import built
from app.training.recipe import MemberRecipe
from app.training.search.candidates import Candidate
from app.training.search.crossed_cuts import Objective, crossed_counts
from app.training.search.trial_sample import TrialSample
from app.training.search.trials import SampleFeatures, Trial, trials_of

Tried = Callable[[Candidate], list[Trial]]


def any_trials_of(
    candidate: Candidate,
    sample: TrialSample,
    features: SampleFeatures,
    *,
    objective: Objective,
    fitting: Fitting,
) -> list[Trial]:
    """One trial for each C of a one-vs-rest candidate, one of any other."""
    if candidate.member.learner == "one-vs-rest":
        return trials_of(candidate, sample, features, objective=objective, fitting=fitting)
    start = process_time()
    vectorizer, rows = features.of(candidate.member)
    _, learner = built(candidate.member)
    fitting = replace(fitting, held_out_rows=vectorizer.held_out_rows)
    held_out = out_of_fold(lambda: deepcopy(learner), rows, sample.truth, sample.folds, fitting)
    scores = held_out.block(slice(None), slice(None))  # type: ignore[arg-type]
    counts = crossed_counts(scores, sample.marks(), sample.folds.parts, objective)
    seconds, width = process_time() - start, int(rows.shape[1])
    return [Trial(candidate.name, (candidate.member,), counts, seconds, width, scores)]


def learner_candidate(kind: str) -> Candidate:
    """A learner with its own settings; those that hold a part of the documents out are refused."""
    found = learner_class(kind)
    if found.needs_validation_set or found.decision_settings or found.reads_label_names:
        raise InvalidRequestError(
            f"--learners: {kind} cannot be tried on folds; train it by itself, or in an ensemble"
        )
    return Candidate(kind, MemberRecipe(kind).with_feature_settings(), ())
