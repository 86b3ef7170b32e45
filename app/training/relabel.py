"""Relabel: labels renamed, merged or hidden in what a model answers; nothing is trained."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.artifacts.info import Info
from app.decisions.tuning.hulls import NEVER, Hulls
from app.errors import InvalidRequestError
from app.labels import LabelEntry, Relabelling, Taxonomy
from app.model import Model
from app.training.train import Trained


@dataclass(frozen=True, slots=True)
class Relabelled:
    """The model with other labels, and how many trained labels changed in which way."""

    trained: Trained
    counts: dict[str, int]


def relabel(model: Model, renamed: Mapping[str, str]) -> Relabelled:
    """The model with labels renamed; several that get one name are merged, "" hides a label.

    `renamed` has labels as the model answers them now.
    """
    old = model.classifier
    if old.hand_rules is not None:
        raise InvalidRequestError(
            "this version has hand-written rules, which name its labels: relabel the version "
            "without them, and apply the rules, with the new labels, to the result"
        )
    known = old.answered_labels.columns
    for label, new in renamed.items():
        if label not in known:
            raise InvalidRequestError(f"the model has no label {label!r} (to become {new!r})")
    relabelling = Relabelling.of(old.column_names, renamed)
    if not len(relabelling.labels):
        raise InvalidRequestError("every label would be hidden; there would be nothing to answer")
    counts = _counts(old.column_names, relabelling)
    if not any(counts.values()):
        raise InvalidRequestError("nothing would change: no label gets another name")
    classifier = replace(
        old,
        relabelling=relabelling,
        hulls=None if old.hulls is None else without_labels(old.hulls, relabelling.hidden),
        taxonomy=None if old.taxonomy is None else _renamed(old.taxonomy, renamed, relabelling),
    )
    return Relabelled(Trained(classifier, _info(model, counts)), counts)


def without_labels(hulls: Hulls, labels: Any) -> Hulls:
    """The hulls with these labels as ones that no document has: no point counts or assigns them."""
    is_gone = np.zeros(hulls.n_labels, np.bool_)
    is_gone[labels] = True
    is_kept = ~is_gone[hulls.label_of_vertex]
    is_kept[hulls.offsets[:-1]] = True  # the first vertex of a label, which assigns nothing
    sizes = np.where(is_gone, 1, np.diff(hulls.offsets))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    cuts = hulls.cuts[is_kept]
    cuts[offsets[:-1][is_gone]] = NEVER.cuts[0]
    return replace(
        hulls,
        offsets=offsets,
        fp=hulls.fp[is_kept],
        tp=hulls.tp[is_kept],
        cuts=cuts,
        positives=np.where(is_gone, 0, hulls.positives).astype(np.int32),
    )


def _counts(before: tuple[str, ...], relabelling: Relabelling) -> dict[str, int]:
    after = relabelling.column_names
    names = [name for name in after if name]
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    is_merged = {name for name, count in Counter(names).items() if count > 1}
    return {
        "renamed": sum(bool(new) and new not in is_merged for new in changed),
        "merged": sum(new in is_merged for new in changed),
        "hidden": changed.count(""),
    }


def _renamed(taxonomy: Taxonomy, renamed: Mapping[str, str], relabelling: Relabelling) -> Taxonomy:
    """The same entries under the new labels; a merged label keeps its own, or the first one's."""
    old = {entry.label: entry for entry in taxonomy.entries()}
    became = {label: renamed.get(label) or label for label in old}
    entries: dict[str, LabelEntry] = {}
    for label, entry in sorted(old.items(), key=lambda item: became[item[0]] != item[0]):
        new, parent = became[label], entry.parent
        while parent and became[parent] == new:  # merged with its own parent
            parent = old[parent].parent
        above = became[parent] if parent else ""
        entries.setdefault(new, entry._replace(label=new, parent=above))
    try:
        return Taxonomy.of(list(entries.values()), relabelling.labels)
    except ValueError:
        raise InvalidRequestError(
            "merging these labels would make one its own ancestor in the labels file's tree"
        ) from None


def _info(model: Model, counts: dict[str, int]) -> Info:
    """What the manifest says: held-out figures only where they are of the same decisions."""
    info, source = model.info(), f"{model.name}@{model.version}"
    figures = info.figures
    if counts["merged"] or counts["hidden"]:
        info = info.with_other_labels()
        figures = {"before_relabelling": figures.get("before_relabelling", figures)}
    recipe = {**info.recipe, "relabelled": {"model": source, **counts}}
    return replace(info, recipe=recipe, figures=figures, timings={})
