"""WorkerOptions: all that a worker must know, small enough to be handed over as a line of JSON."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from app.serving.jobs.leases import LeaseTerms

if TYPE_CHECKING:  # a worker does without the package that checks the environment
    from app.settings import Settings


@dataclass(frozen=True)
class WorkerOptions:
    """Where jobs, uploads and models are, and the bounds of an evaluation."""

    models_dir: Path
    data_dir: Path
    jobs_url: str | None = None
    evaluate_seconds: float = 900.0
    max_upload_bytes: int = 1 << 30
    log_level: str = "info"
    kernels: str = "auto"
    terms: LeaseTerms = field(default_factory=LeaseTerms)

    @classmethod
    def of(cls, settings: "Settings") -> Self:
        """What the settings say."""
        return cls(
            models_dir=settings.models_dir,
            data_dir=settings.data_dir,
            jobs_url=settings.jobs_url,
            evaluate_seconds=settings.evaluate_seconds,
            max_upload_bytes=settings.max_upload_bytes,
            log_level=settings.log_level,
            kernels=settings.kernels,
        )

    def as_json(self) -> str:
        """One line, which `from_json` reads."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """What another process wrote."""
        values = json.loads(line)
        paths = {name: Path(values[name]) for name in ("models_dir", "data_dir")}
        return cls(**{**values, **paths, "terms": LeaseTerms(**values["terms"])})
