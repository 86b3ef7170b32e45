"""TrialFiles: finished trials in a folder, so that an interrupted tuning goes on where it was."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from app.training.recipe import MemberRecipe
from app.training.search.candidates import Candidate
from app.training.search.trial import Trial


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """Two files a candidate and rung: arrays, and what they are of. None: nothing is kept."""

    folder: Path | None

    def load(self, rung: int, candidate: Candidate) -> list[Trial] | None:
        """The trials as they were; None where there are none."""
        about = self._file(rung, candidate, "json")
        if about is None or not about.exists():
            return None
        told = json.loads(about.read_text(encoding="utf-8"))
        with np.load(about.with_suffix(".npz"), allow_pickle=False) as arrays:
            return [_trial(own, i, dict(arrays)) for i, own in enumerate(told)]

    def save(self, rung: int, candidate: Candidate, trials: list[Trial]) -> None:
        """Keep them; what they are of is written last, and makes them valid."""
        about = self._file(rung, candidate, "json")
        if about is None:
            return
        about.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {f"counts{i}": trial.counts for i, trial in enumerate(trials)}
        arrays |= {f"scores{i}": t.scores for i, t in enumerate(trials) if t.scores is not None}
        np.savez(about.with_suffix(".npz"), allow_pickle=False, **arrays)
        about.write_text(json.dumps([_told(trial) for trial in trials]), encoding="utf-8")

    def _file(self, rung: int, candidate: Candidate, suffix: str) -> Path | None:
        if self.folder is None:
            return None
        key = sha256(repr((rung, candidate)).encode()).hexdigest()[:16]
        return self.folder / f"{key}.{suffix}"


def _told(trial: Trial) -> dict[str, Any]:
    members = [[m.learner, m.settings, m.features] for m in trial.members]
    about = {"name": trial.name, "members": members}
    return about | {"seconds": trial.seconds, "features": trial.n_features}


def _trial(told: dict[str, Any], number: int, arrays: dict[str, Any]) -> Trial:
    return Trial(
        told["name"],
        tuple(MemberRecipe(*member) for member in told["members"]),
        arrays[f"counts{number}"],
        told["seconds"],
        told["features"],
        arrays.get(f"scores{number}"),
    )
