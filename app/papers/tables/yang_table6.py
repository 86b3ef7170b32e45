"""Yang (1999), Table 6: the break-even points of fourteen systems on four versions of Reuters."""

from app.papers.experiments import Experiments, ScoredRun
from app.papers.measures import (
    label_cuts_break_even,
    micro_f1_with_sd,
    one_cut_break_even,
    resampled,
)
from app.papers.methods import Method
from app.papers.pillai import plain_cuts
from app.papers.reuters_splits import (
    FOLDER,
    VERSIONS,
    same_data,
    why_reuters_is_absent,
    why_version_is_absent,
)
from app.papers.rows import Measured, PaperRow, PaperTable, absent
from app.papers.tables.yang_table4 import KNN, LLSF, WORD, why_not

PUBLISHED: dict[str, dict[str, float]] = {
    "WORD": {"version 2": 0.15, "version 3": 0.31, "version 4": 0.29},
    "kNN": {"version 2": 0.69, "version 3": 0.85, "version 4": 0.82},
    "LLSF": {"version 3": 0.85, "version 4": 0.81},
    "NNets.PARC": {"version 4": 0.82},
    "CLASSI": {"version 3": 0.80},
    "RIPPER": {"version 2": 0.72, "version 3": 0.80},
    "SWAP-1": {"version 3": 0.79},
    "DTree IND": {"version 2": 0.67},
    "DTree C4.5": {"version 3": 0.79},
    "CHARADE": {"version 3": 0.78},
    "EXPERTS": {"version 2": 0.75, "version 3": 0.76},
    "Rocchio": {"version 2": 0.66, "version 3": 0.75},
    "NaiveBayes": {"version 2": 0.65, "version 3": 0.71},
    "CONSTRUE": {"version 1": 0.90},
}
OURS = {
    "WORD": WORD,
    "kNN": KNN,
    "LLSF": LLSF,
    "NNets.PARC": Method(
        "NNets.PARC",
        "mlp",
        ("learner.shared=false",),
        "differs: networks of three layers; the published figure is of perceptrons, with Pcut",
    ),
    "CLASSI": Method("CLASSI", "perceptron", (), "differs: averaged perceptrons, no selection"),
    "RIPPER": Method("RIPPER", "rules", (), "differs: rules are pruned, not optimised anew"),
    "DTree C4.5": Method("DTree C4.5", "decision-tree", (), "differs: terms are there or not"),
    "EXPERTS": Method("EXPERTS", "experts", (), "differs: phrases without gaps"),
    "Rocchio": Method("Rocchio", "rocchio", (), "differs: weights of the two means"),
    "NaiveBayes": Method("NaiveBayes", "naive-bayes", (), "differs: log-odds of weighed terms"),
}
WITHOUT = {
    "SWAP-1": "its rules are swapped and pruned in a way of its own; `rules` stands at RIPPER",
    "DTree IND": why_version_is_absent("version 2"),
    "CHARADE": "its rules are found by exhaustive search of a lattice; `rules` stands at RIPPER",
    "CONSTRUE": "its rules were written by hand for one news agency",
}
NEAREST = {"NNets.PARC": "version 4"}
"""The version beside whose figure ours stands, where it is not version 3."""
BY_F1 = "DTree C4.5"
"""The one system whose published figure is F1."""


def yang_table6(experiments: Experiments) -> PaperTable:
    """Every published cell: break-even with one cut for all labels, and with a cut a label."""
    missing, rows = why_reuters_is_absent(experiments), list[PaperRow]()
    for system, published in PUBLISHED.items():
        method = OURS.get(system)
        for version, value in published.items():
            cell = f"{system}, Reuters {version}"
            why = missing or _why_not(system, method, version)
            if why or method is None:
                rows.append(absent(cell, value, why or WITHOUT[system]))
            else:
                rows += _rows((cell, version), value, method, experiments)
    title = "Yang 1999, Table 6: micro break-even points"
    return PaperTable("yang-table6", title, rows, NOTES)


NOTES = [
    "± is over resamples of the test documents: the split is fixed, and there is one run",
    "A break-even point is found on the test set itself: with one cut it says how far scores of "
    "all labels are on one scale, with a cut a label it is the best that cuts could do (Scut)",
    *(f"{name}: {what}" for name, what in VERSIONS.items()),
]


def _why_not(system: str, method: Method | None, version: str) -> str | None:
    if method is None:
        return WITHOUT[system]
    if version != NEAREST.get(system, "version 3"):
        return why_version_is_absent(version)
    return why_not(method)


def _rows(
    place: tuple[str, str], published: float, method: Method, experiments: Experiments
) -> list[PaperRow]:
    cell, version = place
    is_by_f1 = method.name == BY_F1
    run = experiments.whole(FOLDER, method, holds_out=is_by_f1 or method in (KNN, LLSF, WORD))
    ours = {
        "one cut": resampled(one_cut_break_even, run.scores, run.truth, run.seconds),
        "a cut a label": resampled(label_cuts_break_even, run.scores, run.truth, run.seconds),
        **({"F1 with Scut": _f1(run)} if is_by_f1 else {}),
    }
    return [
        PaperRow(f"{cell}, {how}", published, own, same_data(version), method.same)
        for how, own in ours.items()
    ]


def _f1(run: ScoredRun) -> Measured:
    marks = run.scores > plain_cuts(run.held_out, run.hulls)
    return micro_f1_with_sd(marks, run.truth, run.seconds)
