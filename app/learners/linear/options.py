"""LinearOptions: what a LIBLINEAR options string such as "-s 1 -c 1 -B 1" asks for."""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any

from app.errors import InvalidRequestError

TWO_CLASS_SOLVERS = (0, 1, 2, 3, 5, 6, 7)
SOLVERS = (*TWO_CLASS_SOLVERS, 4)
LOGISTIC_SOLVERS = (0, 6, 7)
DEFAULT_TOLERANCE = {0: 0.01, 1: 0.1, 2: 0.01, 3: 0.1, 4: 0.1, 5: 0.01, 6: 0.01, 7: 0.1}
ACCEPTED = "-s -c -e -B -w1 -w-1 -q"
REFUSED = {
    "-R": "the bias is always regularised",
    "-C": "a parameter search is not a training",
    "-v": "cross-validation is done by out-of-fold scores",
    "-m": "threads are set with --jobs",
}


@dataclass(frozen=True, slots=True)
class LinearOptions:
    """One training's settings; `bias` None means no bias feature at all."""

    solver: int = 1
    cost: float = 1.0
    tolerance: float = 0.1
    bias: float | None = 1.0
    class_costs: dict[int, float] = field(default_factory=dict)

    @property
    def positive_cost(self) -> float:
        """The cost of a positive document, -w1 included."""
        return self.cost * self.class_costs.get(1, 1.0)

    @property
    def negative_cost(self) -> float:
        """The cost of a negative document, -w-1 included."""
        return self.cost * self.class_costs.get(-1, 1.0)

    @property
    def is_logistic(self) -> bool:
        """Whether scores are log-odds, not margins."""
        return self.solver in LOGISTIC_SOLVERS


def parse_options(text: str, *, solvers: tuple[int, ...] = TWO_CLASS_SOLVERS) -> LinearOptions:
    """The options of a LIBLINEAR command line; -B 1 unless it says otherwise.

    >>> parse_options("-s 7 -c 4 -B -1")
    LinearOptions(solver=7, cost=4.0, tolerance=0.1, bias=None, class_costs={})
    """
    if not isinstance(text, str):  # a recipe may hold anything
        raise InvalidRequestError('LIBLINEAR options are a text, as in "-s 1 -c 1"')
    words, parsed = text.split(), _ParsedWords()
    while words:
        name = words.pop(0)
        if name in REFUSED or name[:2] in REFUSED:
            raise InvalidRequestError(f"LIBLINEAR option {name[:2]}: {REFUSED[name[:2]]}")
        if name == "-q":
            continue
        if not words:
            raise InvalidRequestError(f"LIBLINEAR option {name} needs a value")
        parsed.take(name, words.pop(0))
    return parsed.options(solvers)


class _ParsedWords:
    """What was read so far, still without the defaults that depend on the solver."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.class_costs: dict[int, float] = {}

    def take(self, name: str, value: str) -> None:
        number = _number(name, value)
        if name in ("-s", "-c", "-e", "-B"):
            self.values[name] = number
        elif name.startswith("-w"):
            self.class_costs[_class(name[2:])] = _positive(name, number)
        else:
            raise InvalidRequestError(f"unknown LIBLINEAR option {name}; accepted: {ACCEPTED}")

    def options(self, solvers: tuple[int, ...]) -> LinearOptions:
        solver = self.values.get("-s", 1)
        if solver not in solvers:
            accepted = ", ".join(map(str, sorted(solvers)))
            raise InvalidRequestError(f"LIBLINEAR solver -s {solver:g}; accepted here: {accepted}")
        bias = _finite("-B", self.values.get("-B", 1.0))
        options = LinearOptions(
            solver=int(solver),
            cost=_positive("-c", self.values.get("-c", 1.0)),
            tolerance=_positive("-e", self.values.get("-e", DEFAULT_TOLERANCE[int(solver)])),
            bias=bias if bias >= 0 else None,
            class_costs=self.class_costs,
        )
        for name, factor in self.class_costs.items():
            _positive(f"-c times -w{name}", options.cost * factor)
        return options


def with_positive_cost(options: LinearOptions, factor: float) -> LinearOptions:
    """The same options with the positives' cost multiplied."""
    costs: dict[int, Any] = {**options.class_costs, 1: options.class_costs.get(1, 1.0) * factor}
    return replace(options, class_costs=costs)


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidRequestError(f"LIBLINEAR option {name} needs a number") from None


def _class(digits: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", digits):
        raise InvalidRequestError(
            "LIBLINEAR option -w needs a number of a class, as in -w1 or -w-1"
        )
    return int(digits)


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise InvalidRequestError(f"LIBLINEAR option {name} needs a finite number")
    return value


def _positive(name: str, value: float) -> float:
    if not 0 < value < float("inf"):
        raise InvalidRequestError(f"LIBLINEAR option {name} needs a number above 0")
    return value
