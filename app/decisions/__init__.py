"""From scores to label sets. Catalogue of the stored decisions by kind."""

from app.catalogue import find
from app.decisions.base import Decision

DECISIONS = {
    "score-cut": "app.decisions.score_cut:ScoreCut",
    "rank-cut": "app.decisions.rank_cut:RankCut",
}


def decision_class(kind: str) -> type[Decision]:
    """The class behind a catalogue name."""
    found: type[Decision] = find(DECISIONS, kind, "decision")
    return found
