"""LeaderboardJob: the evaluations of one data set put in order in a process of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.catalogue import find
from app.serving.evaluating import ProcessJob

RUN = {"leaderboard": "app.evaluation.compare.leaderboard:leaderboard"}
"""Loaded in the process alone."""


@dataclass(frozen=True)
class LeaderboardJob(ProcessJob):
    """What is kept of each evaluation, by its id, the newest first, and how they are ordered."""

    folder: Path
    data: str
    figure: str
    kept: Mapping[str, Path]
    described: Mapping[str, Any]
    """What the answer says of each evaluation, by its id, JSON-safe."""
    elsewhere: tuple[str, ...] = ()
    """Evaluations that another replica keeps."""

    def content(self) -> dict[str, Any]:
        """The leaderboard, JSON-safe."""
        board = find(RUN, "leaderboard", "task")(self.kept, self.figure)
        rows = [{**row, "evaluation": self.described[row["evaluation"]]} for row in board["rows"]]
        why = "another replica keeps it, and does not share it"
        left_out = [*board["left_out"], *({"evaluation": id, "why": why} for id in self.elsewhere)]
        return {"data": self.data, **board, "rows": rows, "left_out": left_out}
