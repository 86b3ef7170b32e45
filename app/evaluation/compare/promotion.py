"""not_worse: may a new version take the place of the current one?"""

from app.errors import InvalidRequestError
from app.evaluation.report.report import Report
from app.metrics.significance.bootstrap import micro_f, paired_resamples, percentile_interval

RESAMPLES = 1000


def not_worse(new: Report, current: Report, *, seed: int = 0) -> tuple[bool, str]:
    """Whether the new version is not worse on the same documents, and a sentence that says why.

    Worse means: the 95 % interval of the difference in micro-F1 (paired bootstrap over documents)
    lies below 0. Labels that only one of the two knows count as missed by the other.
    """
    a, b = new.document_counts, current.document_counts
    if len(a) != len(b) or not len(a):
        raise InvalidRequestError("the two versions were not measured on the same documents")
    sums_a, sums_b = paired_resamples(a, b, RESAMPLES, seed)
    low, high = percentile_interval(micro_f(sums_a) - micro_f(sums_b))
    totals = (float(micro_f(counts.sum(axis=0, dtype=float))) for counts in (a, b))
    ours, theirs = totals
    is_worse = high < 0
    verdict = "worse than" if is_worse else "not worse than"
    return not is_worse, (
        f"micro-F1 {ours:.4f} is {verdict} the current version's {theirs:.4f}: on {len(a)} "
        f"documents the difference is {ours - theirs:+.4f} (95 % interval {low:+.4f} to "
        f"{high:+.4f}, paired bootstrap)"
    )
