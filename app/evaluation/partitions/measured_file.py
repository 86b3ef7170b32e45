"""MeasuredFile: what was measured of one file of a test set, as arrays that can be sent."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.datasets.by_file.part_summary import PartSummary
from app.datasets.reading import Reading
from app.decisions.base import BatchRule
from app.errors import InvalidRequestError
from app.evaluation.answered_labels import answered_labels
from app.evaluation.deciders import Abstaining, decider
from app.evaluation.measure.measurement import Measurement
from app.evaluation.measure.tally import Tally, as_bytes, from_bytes, joined
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.run import Run
from app.evaluation.scorer import Scorer
from app.evaluation.storage.score_chunks import ScoreChunks
from app.progress import silent


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """Counts, records and scores of its documents; what JSON can hold of them is in `about`."""

    about: dict[str, Any]
    tally: Tally

    @classmethod
    def of(
        cls,
        scorer: Scorer,
        documents: Reading,
        asked: tuple[EvaluationOptions, JudgedModel],
        folder: Path,
    ) -> Self:
        """Measure the documents of one file; the folder is for working files."""
        options, info = asked
        lines = folder / "predictions" if options.predictions else None
        options = replace(options, predictions=lines, keep=None)
        chunks = ScoreChunks(len(answered_labels(scorer)))
        with closing(Measurement(scorer, options, info, folder, chunks=chunks)) as measurement:
            run, decision = (
                Run(scorer, measurement, options, info),
                decider(options.decision, scorer),
            )
            if isinstance(decision, BatchRule):
                raise InvalidRequestError(f"{decision.syntax} is decided over all files together")
            run.measured(run.read(documents, silent), decision)
            about = {
                "truth": run.truth.found(),
                "seen": run.seen,
                "seconds": run.seconds,
                "documents": len(measurement.documents),
                "abstained": _abstained(decision),
                "summary": PartSummary.of(documents).as_dict(),
            }
            tallies = {"measured": measurement.tally(), "predictions": _lines(lines)}
            if run.drift is not None:
                tallies["drift"] = run.drift.tally()
            return cls(about, joined(tallies))

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All of it as arrays; the first says what the others are."""
        return (as_bytes([self.about, list(self.tally)]), *self.tally.values())

    @classmethod
    def from_arrays(cls, arrays: Sequence[NDArray[Any]]) -> Self:
        """What `arrays` gave."""
        about, names = from_bytes(arrays[0])
        return cls(about, dict(zip(names, arrays[1:], strict=True)))


def _abstained(decision: Any) -> list[int]:
    return [decision.assigned, decision.held_back] if isinstance(decision, Abstaining) else [0, 0]


def _lines(file: Path | None) -> Tally:
    return {} if file is None else {"lines": np.fromfile(file, np.uint8)}
