"""EvaluationReport: the figures of an evaluation, by a model at hand or by a service."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelserve.arguments import FilePath


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class EvaluationReport:
    """The report of POST /evaluate; docs/metrics.md explains every figure."""

    content: dict[str, Any]
    page: Callable[[], str] | None = None
    """Makes the HTML page; None for the report of a service, which sends figures alone."""

    @property
    def micro_f1(self) -> float:
        """F1 over all decisions together."""
        return float(self.content["decisions"]["micro"]["f1"])

    @property
    def macro_f1(self) -> float:
        """The mean of the F1 of all labels counted."""
        return float(self.content["decisions"]["macro"]["f1"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to be careful about, such as test documents that were trained on."""
        return tuple(self.content["warnings"])

    def as_dict(self) -> dict[str, Any]:
        """Everything, as POST /evaluate answers it."""
        return self.content

    def to_html(self, file: FilePath) -> None:
        """Write the report as one self-contained page."""
        if self.page is None:
            raise ValueError("a service's report has no page: load the model and evaluate it here")
        Path(file).write_text(self.page(), encoding="utf-8")

    def __repr__(self) -> str:
        found = self.content
        name = f"{found['model']}@{found['version']}".strip("@")
        figures = {"micro-F1": self.micro_f1, "macro-F1": self.macro_f1, **_first(found["ranking"])}
        shown = ", ".join(f"{title} {value:.4f}" for title, value in figures.items())
        of = f" of {name}" if name else ""
        warned = f"; {len(self.warnings)} warnings" if self.warnings else ""
        return f"<report{of} on {found['data']['documents']:,} documents: {shown}{warned}>"


def _first(ranking: dict[str, Any]) -> dict[str, float]:
    """Precision at the smallest K that was asked for."""
    at_k = [(name, value) for name, value in ranking.items() if name.startswith("P@")]
    return dict(at_k[:1])
