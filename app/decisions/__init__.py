"""From scores to label sets. Catalogue of the stored decisions by kind."""

from app.catalogue import find
from app.decisions.base import Decision

DECISIONS = {
    "score-cut": "app.decisions.rules.score_cut:ScoreCut",
    "rank-cut": "app.decisions.rules.rank_cut:RankCut",
}


def decision_class(kind: str) -> type[Decision]:
    """The class behind a catalogue name."""
    found: type[Decision] = find(DECISIONS, kind, "decision")
    return found
