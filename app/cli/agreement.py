"""The agreement of annotators as tables on the terminal."""

from typing import Any

from app.cli.terminal import out, table
from app.evaluation.report.tables import figure

SHOWN_LABELS = 10
OVERLAPS = ("overlap", "overlap_documents", "overlap_labels", "f1", "exact")


def show_agreement(found: dict[str, Any]) -> None:
    """Print single figures, every pair, each against the majority, the most disputed labels."""
    single = {name: value for name, value in found.items() if not isinstance(value, list)}
    table("agreement", ["", ""], [[name, _plain(value)] for name, value in single.items()])
    if "pairs" in found:
        _show_several(found)
    out.print()
    table("labels agreed on least", ["label", "given", "kappa", "alpha"], _disputed(found))


def _show_several(found: dict[str, Any]) -> None:
    shown = {
        "annotators": (found["annotators"], ("annotator",), ("documents", "pairs", "missing")),
        "every pair": (found["pairs"], ("first", "second"), ("documents", *OVERLAPS)),
        "each against the majority of the others": (
            found["majority"],
            ("annotator",),
            ("documents", "ties", *OVERLAPS),
        ),
    }
    for title, (entries, names, figures) in shown.items():
        out.print()
        heads = [name.replace("overlap_", "by ") for name in (*names, *figures)]
        rows = [[_plain(entry[name]) for name in (*names, *figures)] for entry in entries]
        table(title, heads, rows, text=len(names))
    for one in found["annotators"]:
        if one["missing"]:
            listed = ", ".join(one["missing_documents"])
            more = " …" if one["missing"] > len(one["missing_documents"]) else ""
            out.print(
                f"{one['annotator']} lacks {one['missing']:,} documents: {listed}{more}",
                markup=False,
                soft_wrap=True,
            )


def _disputed(found: dict[str, Any]) -> list[list[str]]:
    """The labels of the lowest α; those without one (never in doubt, or never judged twice) last.

    `given` has how often each annotator gave the label.
    """

    def by_alpha(one: dict[str, Any]) -> float:
        return 2.0 if one["krippendorff_alpha"] is None else float(one["krippendorff_alpha"])

    rows = sorted(found["by_label"], key=by_alpha)[:SHOWN_LABELS]
    return [
        [
            one["label"],
            "/".join(map(str, one["given"])),
            figure(one["fleiss_kappa"]),
            figure(one["krippendorff_alpha"]),
        ]
        for one in rows
    ]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else figure(value)
