"""`--test FILE`, or a share of the data such as 0.2, which is then kept aside."""

from typing import Any

from app.cli.terminal import show_warnings, table
from app.datasets.base import ReadOptions
from app.datasets.collection import Collection, split
from app.datasets.reading import open_data
from app.errors import InvalidRequestError
from app.training.publish import TestSet, documents_of


def kept_aside(
    data: Collection, test: str | None, options: ReadOptions, seed: int
) -> tuple[Collection, TestSet | None]:
    """What is left of the data, and how to open the test set; None where there is none."""
    if test is None:
        return data, None
    try:
        share = float(test)
    except ValueError:
        return data, lambda: open_data(test, options)
    if not 0 < share < 1:
        raise InvalidRequestError("--test takes a file, or a share between 0 and 1")
    kept, aside = split(data, share, seed)
    return kept, lambda: documents_of(aside)


def show_report(report: dict[str, Any]) -> None:
    """Print the chief figures of a report, and what it warns of."""
    decisions, ranking = report["decisions"], report["ranking"]
    rows = [
        [f"{average}-F1", f"{decisions[average]['f1']:.4f}"]
        for average in ("micro", "macro", "macro_in_test")
    ]
    rows += [[name, f"{value:.4f}"] for name, value in ranking.items() if name.startswith("P@")]
    if "costs" in report:
        rows.append(["cost a document", f"{report['costs']['per_document']:.4f}"])
    table(f"on {report['data']['documents']:,} test documents", ["", ""], rows)
    show_warnings(report["warnings"])
