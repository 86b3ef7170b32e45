"""What a report counts: the labels that a scorer answers with, which may be relabelled ones."""

from app.arrays import Scores
from app.decisions.calibration.calibration import Calibration
from app.evaluation.scorer import Scorer
from app.labels import LabelIndex


def answered_labels(scorer: Scorer) -> LabelIndex:
    """The labels that the report is about."""
    return scorer.labels if scorer.relabelling is None else scorer.relabelling.labels


def old_names(scorer: Scorer) -> dict[str, str]:
    """What trained labels became, by name, where a test set may still have their old names."""
    return {} if scorer.relabelling is None else scorer.relabelling.old_names(scorer.labels)


def answered_scores(scorer: Scorer, scores: Scores) -> Scores:
    """The scores of those labels: of merged ones the highest."""
    return scores if scorer.relabelling is None else scorer.relabelling.best_scores(scores)


def answered_calibration(scorer: Scorer) -> Calibration | None:
    """The probabilities of those scores; None where labels were merged: they are not known."""
    calibration, relabelling = scorer.calibration, scorer.relabelling
    if calibration is None or relabelling is None:
        return calibration
    return None if relabelling.has_merged else calibration.of_labels(relabelling.sources)
