"""The summary at the top of docs/benchmarks.md: what was found beside what is aimed at."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import kept_figures, write_section


class Aim(NamedTuple):
    """A figure that is to be at least (or at most) so high."""

    section: str
    what: str
    value: Callable[[Any], float]
    bound: float
    is_ratio: bool = True
    """A ratio is to be at least the bound, anything else at most."""


def ratio(peer: str, figure: str) -> Callable[[Any], float]:
    """A peer's figure divided by ours."""
    return lambda found: found[peer][figure] / found["labelserve"][figure]


def own(figure: str) -> Callable[[Any], float]:
    """A figure of ours."""
    return lambda found: found["labelserve"][figure]


def slowest(figure: str) -> Callable[[Any], float]:
    """The highest of all models."""
    return lambda found: max(float(figures[figure]) for figures in found.values())


def least_margin(found: Any) -> float:
    """How far our worst of P@1, P@3, P@5 is above PECOS's, as a ratio."""
    ours, theirs = found["labelserve"], found["pecos"]
    return float(min(ours[k] / theirs[k] for k in ("p1", "p3", "p5")))


AIMS = [
    Aim("training", "one-vs-rest, debtags: CPU of PECOS ÷ ours", ratio("pecos", "cpu"), 3.5),
    Aim("training", "… of LibMultiLabel ÷ ours", ratio("libmultilabel", "cpu"), 7),
    Aim("training", "… memory that training takes, MB", own("grew_mb"), 200, False),
    Aim("training-folds", "with cuts: CPU of one PECOS fit ÷ ours", ratio("pecos", "cpu"), 0.72),
    Aim("training-folds", "… of LibMultiLabel ÷ ours, or more", ratio("libmultilabel", "cpu"), 15),
    Aim("trees-debtags", "tree, debtags: CPU of PECOS ÷ ours", ratio("pecos", "cpu"), 1),
    Aim("trees-debtags", "… our P@1, 3, 5 ÷ PECOS's, the least", least_margin, 1),
    Aim("trees-yso-en-mid", "tree, yso-en-mid: CPU of PECOS ÷ ours", ratio("pecos", "cpu"), 1),
    Aim("trees-yso-en-mid", "… our P@1, 3, 5 ÷ PECOS's, the least", least_margin, 1),
    Aim("trees-yso-en-mid", "… memory that training takes, MB", own("grew_mb"), 1500, False),
    Aim("training-quality", "the largest fall below LIBLINEAR", lambda f: f["fall"], 0.001, False),
    Aim("starting", "debtags model on disk, MB", lambda f: f["model_mb"], 8, False),
    Aim("starting", "load of a verified model, ms", lambda f: f["load_ms"], 20, False),
    Aim("prediction", "batch: CPU of scikit-learn ÷ ours", ratio("scikit_learn", "batch"), 5),
    Aim("prediction", "one text: CPU of scikit-learn ÷ ours", ratio("scikit_learn", "one"), 25),
    Aim("prediction", "… of PECOS ÷ ours", ratio("pecos", "one"), 5),
    Aim(
        "prediction-many-labels", "… 23,309 labels, PECOS's p50 ÷ ours", ratio("pecos", "p50_us"), 1
    ),
    Aim(
        "vectorizing",
        "transform: CPU of scikit-learn ÷ ours",
        ratio("scikit_learn", "transform"),
        4,
    ),
    Aim("vectorizing", "fit_transform", ratio("scikit_learn", "fit_transform"), 3),
    Aim(
        "serving",
        "HTTP: CPU of plain FastAPI ÷ ours",
        lambda f: f["cpu"]["fastapi"] / f["cpu"]["labelserve"],
        8.5,
    ),
    Aim(
        "serving",
        "… ours ÷ uvicorn's constant answer",
        lambda f: f["cpu"]["labelserve"] / f["cpu"]["constant"],
        2.2,
        False,
    ),
    Aim("serving", "… least lead over LitServe, BentoML, MLServer", lambda f: f["least_lead"], 1),
    Aim("page", "first answer on the page, slowest model, ms", slowest("first"), 2000, False),
    Aim("page", "… further ones, with a pause of 120", slowest("further"), 220, False),
    Aim("page", "… longest task of the main thread, ms", slowest("longest_task"), 100, False),
]


def lines() -> Iterator[str]:
    """The section in Markdown."""
    yield "## Summary"
    yield ""
    yield (
        "What the sections below found, beside what is aimed at; what is missed is set in bold. "
        "The least lead is over all of requests a second, p50, p99 at 1, 8 and 64 connections, and "
        "memory."
    )
    yield ""
    yield "| section | what | found | aim |"
    yield "|---|---|---|---|"
    figures = kept_figures()
    for aim in AIMS:
        if aim.section not in figures:
            yield f"| `{aim.section}` | {aim.what} | not run | |"
            continue
        found = aim.value(figures[aim.section])
        holds = found >= aim.bound if aim.is_ratio else found <= aim.bound
        shown = f"{found:.4g}" if holds else f"**{found:.4g}**"
        sign, times = ("≥", "×") if aim.is_ratio else ("≤", "")
        yield f"| `{aim.section}` | {aim.what} | {shown}{times} | {sign} {aim.bound:g}{times} |"
    yield ""
    yield f"{machine()}. Reproduce: `make bench`."


if __name__ == "__main__":
    text = "\n".join(lines())
    print(text)
    write_section("summary", text)
