"""Labels that a new labelled set does not show at all: what was known of them before stays."""

from dataclasses import replace

import numpy as np

from app.decisions.abstention import Abstention
from app.decisions.tuning.hulls import Hulls


def completed_hulls(new: Hulls, old: Hulls | None) -> Hulls:
    """The new hulls, with the old one of every label that has no positive document in the new set.

    Else no operating point could ever assign such a label.
    """
    if old is None or not (new.positives == 0).any():
        return new
    is_absent = new.positives == 0
    sizes = np.where(is_absent, np.diff(old.offsets), np.diff(new.offsets))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    starts = np.where(is_absent, len(new.cuts) + old.offsets[:-1], new.offsets[:-1])
    vertices = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    return replace(
        new,
        offsets=offsets,
        fp=np.concatenate([new.fp, old.fp])[vertices],
        tp=np.concatenate([new.tp, old.tp])[vertices],
        cuts=np.concatenate([new.cuts, old.cuts])[vertices],
        positives=np.where(is_absent, old.positives, new.positives),
        is_exact=new.is_exact and old.is_exact,
    )


def completed_bands(new: Abstention, old: Abstention | None, hulls: Hulls) -> Abstention:
    """The new bands, with the old one of every label that `hulls` has no positive document of.

    Only where target and cut are the old ones too: a band means nothing at another cut.
    """
    if old is None or old.target != new.target:
        return new
    is_kept = (hulls.positives == 0) & (new.lower == old.lower)
    return replace(new, upper=np.where(is_kept, old.upper, new.upper))
