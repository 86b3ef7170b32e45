"""Training: CPU, memory, model size and quality beside the peers, and how the cost grows."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, save_npz

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.alternating_runs import Candidate, run_alternately
from bench.harness.environment import WORK, data_folder, is_quick
from bench.harness.sections import footer, keep_figures, write_section
from bench.training.gap import gap_table
from bench.training.growth import growth_table
from bench.training.quality import quality_table

MATRICES = WORK / "matrices"
FLAT = ["labelserve", "pecos", "libmultilabel", "scikit_learn"]
TREES = {
    "debtags": ["labelserve", "pecos", "libmultilabel", "omikuji", "napkinxc"],
    "arxiv-msc-20k": ["labelserve", "pecos"],
    "yso-en-mid": ["labelserve", "pecos"],
}
TURNS = 5
FEWER = {"libmultilabel": 1, "scikit_learn": 1, "omikuji": 1, "napkinxc": 1}
MOST_PATIENCE = 25
TAKEN = (
    f"Medians of {TURNS} turns taken alternately; LibMultiLabel, scikit-learn, omikuji and "
    "napkinXC take one."
)
HEAD = [
    "| | CPU s | ÷ ours | wall s | memory grew by MB | model MB | P@1 | P@3 | P@5 |",
    "|---|---|---|---|---|---|---|---|---|",
]
SAME = (
    "All programs get the same tf-idf rows (float32) and one thread; vectorizing is not part of "
    "these times, kernels are compiled before. Model MB: the stored weights. Peers have their own "
    "defaults, LibMultiLabel `-s 1 -B 1 -e 0.0001`."
)


def main() -> None:
    """Measure, print and write the sections, one after the other; `--part NAME` does only one."""
    chosen = option("--part", "")
    quick = ("training",) if is_quick() else tuple(PARTS)
    for name in (chosen,) if chosen else quick:
        command = f"PYTHONPATH=. .venv/bin/python scripts/bench/training/run.py --part {name}"
        text = "\n".join([*PARTS[name](), "", footer(command)])
        print(text, flush=True)
        write_section(name, text)


def option(name: str, default: str) -> str:
    """What follows an option on the command line."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def flat() -> Iterator[str]:
    """One-vs-rest on debtags."""
    prepare("debtags")
    names, turns = (FLAT[:2], 1) if is_quick() else (FLAT, TURNS)
    yield "## Training one-vs-rest: debtags, 24,192 documents, 594 labels"
    yield ""
    yield f"{SAME} {TAKEN}"
    candidates = run_alternately("train", names, ["one-vs-rest"], turns, FEWER)
    keep_figures("training", _figures(candidates, "one-vs-rest"))
    yield from table(candidates, "one-vs-rest")


def with_folds() -> Iterator[str]:
    """One-vs-rest with out-of-fold scores, cuts and calibration, beside one plain fit of PECOS."""
    prepare("debtags")
    yield "## Training with tuned cuts: debtags"
    yield ""
    yield (
        f"{SAME} Ours: the fit, out-of-fold scores of 5 folds, micro-f cuts and calibration. "
        "LibMultiLabel: `thresholding`, ended early where it takes longer than "
        f"{MOST_PATIENCE} times ours. PECOS offers no cuts: its row is one plain fit. {TAKEN}"
    )
    candidates = run_alternately("train", ["labelserve", "pecos"], ["with-folds"], TURNS)
    ours = candidates[0].median("with-folds", "cpu")
    slow = Candidate("train", "libmultilabel")
    slow.limit_cpu(ours * MOST_PATIENCE)
    slow.run("with-folds")
    slow.close()
    (plain,) = run_alternately("train", ["labelserve"], ["one-vs-rest"], TURNS)
    figures = _figures(candidates, "with-folds")
    if slow.failure:
        figures["libmultilabel"] = {"cpu": ours * MOST_PATIENCE}
        yield from table(candidates, "with-folds")
        seconds = f"more than {ours * MOST_PATIENCE:.0f}"
        yield f"| libmultilabel | {seconds} | more than {MOST_PATIENCE}× | | | | | | |"
    else:
        figures["libmultilabel"] = slow.medians("with-folds")
        yield from table([*candidates, slow], "with-folds")
    keep_figures("training-folds", figures)
    yield ""
    ratio = ours / plain.median("one-vs-rest", "cpu")
    yield f"All of it costs {ratio:.1f} × one plain fit of ours."


def trees() -> Iterator[str]:
    """Label trees on three corpora."""
    yield "## Training label trees"
    yield ""
    yield f"{SAME} Ours: three trees, the default, like omikuji; other peers one; beam 10. {TAKEN}"
    for corpus, names in TREES.items():
        prepare(corpus)
        yield ""
        yield f"**{corpus}**"
        candidates = run_alternately("train", names, ["tree"], TURNS, FEWER)
        keep_figures(f"trees-{corpus}", _figures(candidates, "tree"))
        yield from table(candidates, "tree")


def _figures(candidates: list[Candidate], round_name: str) -> dict[str, Any]:
    return {
        one.name: {**one.medians(round_name), "grew_mb": one.most(round_name, "grew_mb")}
        for one in candidates
    }


def table(candidates: list[Candidate], round_name: str) -> Iterator[str]:
    """One contest's table; times beside those of the first."""
    yield ""
    yield from HEAD
    yield from rows(candidates, round_name, candidates[0].median(round_name, "cpu"))


def rows(candidates: list[Candidate], round_name: str, base: float) -> Iterator[str]:
    """A row for every candidate."""
    for one in candidates:
        if one.failure:
            yield f"| {one.name} | did not run: {one.failure} | | | | | | | |"
            continue
        figures = {
            name: one.median(round_name, name)
            for name in ("cpu", "wall", "size_mb", "p1", "p3", "p5")
        }
        memory = one.most(round_name, "grew_mb")
        yield (
            f"| {one.name} | {figures['cpu']:.1f} | {figures['cpu'] / base:.1f}× "
            f"| {figures['wall']:.1f} | {memory:.0f} | {figures['size_mb']:.1f} "
            f"| {figures['p1']:.4f} | {figures['p3']:.4f} | {figures['p5']:.4f} |"
        )


def prepare(corpus: str) -> None:
    """Write a corpus as matrices that every candidate reads, unless they are there."""
    folder = MATRICES / corpus
    os.environ["LABELSERVE_BENCH_MATRICES"] = str(folder)
    if (folder / "test_marks.npz").exists():
        return
    from app.datasets.collection import load_collection
    from app.labels import LabelIndex
    from app.vectorizers.tfidf import Tfidf

    train = load_collection(data_folder() / corpus / "train.txt.gz")
    test = load_collection(data_folder() / corpus / "test.txt.gz")
    labels, vectorizer = LabelIndex.of(train.label_sets), Tfidf()
    folder.mkdir(parents=True, exist_ok=True)
    _save(folder / "train_features.npz", vectorizer.fit_transform(train.documents), np.float32)
    _save(folder / "train_marks.npz", labels.truth(train.label_sets), np.int8)
    _save(folder / "test_features.npz", vectorizer.transform(test.documents), np.float32)
    _save(folder / "test_marks.npz", labels.truth(test.label_sets), np.int8)


def _save(file: Path, matrix: Any, kind: Any) -> None:
    save_npz(file, csr_matrix(matrix, dtype=kind), compressed=False)


def gap() -> Iterator[str]:
    """The solver's distance from the optimum."""
    prepare("debtags")
    yield "## Training: how near the optimum it ends"
    yield from gap_table(MATRICES / "debtags")


def growth() -> Iterator[str]:
    """How the cost grows."""
    yield "## Training: how the cost grows"
    yield from growth_table()


def quality() -> Iterator[str]:
    """Quality beside LIBLINEAR's own weights."""
    yield "## Training: quality beside LIBLINEAR's own weights"
    yield from quality_table()


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "training": flat,
    "training-folds": with_folds,
    "training-trees": trees,
    "training-gap": gap,
    "training-growth": growth,
    "training-quality": quality,
}


if __name__ == "__main__":
    main()
