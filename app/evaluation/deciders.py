"""Decisions by the names that evaluations accept."""

from app.decisions.operating_point import Wanted
from app.decisions.rules.rank_cut import RankCut
from app.decisions.rules.score_cut import ScoreCut
from app.errors import InvalidRequestError
from app.evaluation.measure.certainty import Abstaining
from app.evaluation.proportion import Proportion
from app.evaluation.scorer import Decider, Scorer

ACCEPTED = (
    "tuned, zero, rank:K, proportion:X, or an operating point: precision>=P, recall>=R, f1, f0.5, "
    "f2, each optionally with macro: before it"
)


def decider(name: str, scorer: Scorer) -> Decider:
    """The decision of that name; nothing is tuned on the file that is evaluated."""
    if name in ("tuned", ""):
        return _tuned(scorer)
    if name == "zero":
        return _zero(scorer)
    kind, _, argument = name.partition(":")
    if kind == "rank":
        if not (argument.isascii() and argument.isdigit() and int(argument) >= 1):
            raise InvalidRequestError("rank:K needs a whole number K of at least 1, as in rank:3")
        return RankCut(int(argument))
    if kind == "proportion":
        return Proportion.read(name)
    return _operating_point(name, scorer)


def _tuned(scorer: Scorer) -> Decider:
    """The stored decision; where the model abstains it assigns nothing."""
    abstention = getattr(scorer, "abstention", None)
    return scorer.decision if abstention is None else Abstaining(scorer.decision, abstention)


def _operating_point(name: str, scorer: Scorer) -> Decider:
    try:
        wanted = Wanted.read(name)
    except InvalidRequestError:
        raise InvalidRequestError(f"no such decision; accepted: {ACCEPTED}") from None
    points = getattr(scorer, "operating_points", None)
    if points is None:
        raise InvalidRequestError(
            "this model was not tuned on held-out scores, so it has no operating points; "
            "accepted: tuned, zero, rank:K, proportion:X"
        )
    return ScoreCut(points.find(wanted.name).cuts, wanted.name)


def _zero(scorer: Scorer) -> Decider:
    for member in getattr(scorer, "members", ()):
        if not member.learner.zero_is_neutral:
            raise InvalidRequestError(
                f"zero is no sensible cut for the learner {member.learner.kind}: its scores are "
                "not neutral at 0; use tuned, rank:K or an operating point"
            )
    return ScoreCut.zero(len(scorer.labels))
