"""Pillai et al. (2013), Table 4: Table 3's SVM on Reuters, for labels of falling frequency."""

import numpy as np
from numpy.typing import NDArray

from app.papers.experiments import Experiments
from app.papers.pillai import SAME_DATA, TEXT_SVM, runs_of, why_absent
from app.papers.rows import PaperRow, PaperTable
from app.papers.tables.pillai_table3 import NOTES, Origin, absent_cells, run_cells

SIZES = {"Reuters A (10 labels)": 10, "Reuters B (22 labels)": 22, "Reuters C (58 labels)": 58}
PUBLISHED = {
    "Reuters A (10 labels)": ((0.937, 0.001), (0.928, 0.002), (0.928, 0.002), (0.928, 0.002)),
    "Reuters B (22 labels)": ((0.839, 0.007), (0.767, 0.004), (0.767, 0.004), (0.767, 0.004)),
    "Reuters C (58 labels)": ((0.744, 0.014), (0.651, 0.016), (0.651, 0.016), (0.647, 0.016)),
}


def pillai_table4(experiments: Experiments) -> PaperTable:
    """The rows of the three groups; one-vs-rest learns each label alone, so scores are Table 3's"""
    why, rows = why_absent(experiments, "Reuters"), list[PaperRow]()
    runs = [] if why else runs_of(experiments, "Reuters")
    first = 0
    for name, size in SIZES.items():
        if why:
            rows += absent_cells(name, PUBLISHED[name], why)
            continue
        columns = by_frequency(experiments.corpus("reuters").train_counts)[first : first + size]
        origin = Origin(SAME_DATA["Reuters"], TEXT_SVM.same)
        group = [run.of_labels(np.sort(columns)) for run in runs]
        rows += run_cells(name, PUBLISHED[name], group, origin)
        first += size
    title = "Pillai et al. 2013, Table 4: micro-F1 by frequency of labels"
    return PaperTable("pillai-table4", title, rows, NOTES)


def by_frequency(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The labels by falling number of training documents; ties by rising number."""
    return np.argsort(-counts, kind="stable")
