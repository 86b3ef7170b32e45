"""Decisions by the names that evaluations accept."""

from app.decisions.rank_cut import RankCut
from app.decisions.score_cut import ScoreCut
from app.errors import InvalidRequestError
from app.evaluation.scorer import Decider, Scorer

ACCEPTED = (
    "tuned, zero, rank:K, proportion:X, or an operating point: precision>=P, recall>=R, f1, f0.5, "
    "f2, each optionally with macro: before it"
)


def decider(name: str, scorer: Scorer) -> Decider:
    """The decision of that name; nothing is tuned on the file that is evaluated."""
    if name in ("tuned", ""):
        return scorer.decision
    if name == "zero":
        return _zero(scorer)
    kind, _, argument = name.partition(":")
    if kind == "rank":
        if not (argument.isascii() and argument.isdigit() and int(argument) >= 1):
            raise InvalidRequestError("rank:K needs a whole number K of at least 1, as in rank:3")
        return RankCut(int(argument))
    raise InvalidRequestError(f"no such decision; accepted: {ACCEPTED}")


def _zero(scorer: Scorer) -> Decider:
    for member in getattr(scorer, "members", ()):
        if not member.learner.zero_is_neutral:
            raise InvalidRequestError(
                f"zero is no sensible cut for the learner {member.learner.kind}: its scores are "
                "not neutral at 0; use tuned, rank:K or an operating point"
            )
    return ScoreCut.zero(len(scorer.labels))
