"""Small diagrams of a report as SVG: precision–recall curves, reliability, risk and coverage."""

from html import escape
from typing import Any

LEFT, TOP, SIDE, BELOW = 44, 12, 300, 40
"""Room for the axes, and the side of the square that is drawn in."""


def pr_curves(curves: dict[str, Any], chosen: dict[str, Any]) -> str:
    """Micro and macro curves over lines of equal F1, and where the decision stands."""
    lines = "".join(_equal_f1(f1 / 10) for f1 in range(2, 10, 2))
    paths = "".join(_curve(average, curves[average]) for average in ("micro", "macro"))
    marks = "".join(
        _point(average, chosen[average]["recall"], chosen[average]["precision"])
        for average in ("micro", "macro_in_test")
    )
    return _frame("Precision–recall curves", "recall", "precision", lines + paths + marks)


def reliability(bins: list[dict[str, Any]]) -> str:
    """How many of the pairs of each probability were true."""
    points = [(one["probability"], one["share"]) for one in bins]
    titles = [
        f"said {one['probability']:.3f}, true {one['share']:.3f} of {one['pairs']:,} pairs"
        for one in bins
    ]
    diagonal = _line([(0.0, 0.0), (1.0, 1.0)], "guide")
    dots = "".join(map(_dot, points, titles))
    content = diagonal + _line(points, "micro") + dots
    return _frame("Reliability of probabilities", "probability", "share that is true", content)


def risk_coverage(points: list[dict[str, Any]]) -> str:
    """What share of assignments is wrong when only the most probable ones are kept."""
    coordinates = [(one["coverage"], one["risk"]) for one in points]
    titles = [
        f"keep {one['coverage']:.0%} (probability ≥ {one['min_probability']:.2f}): "
        f"{one['risk']:.2%} wrong"
        for one in points
    ]
    dots = "".join(map(_dot, coordinates, titles))
    content = _line(coordinates, "macro") + dots
    return _frame("Risk and coverage", "share of assignments kept", "share wrong", content)


def line_plot(title: str, across: str, up: str, lines: dict[str, list[tuple[float, float]]]) -> str:
    """Named lines over one another, both axes from 0 to 1; every second one in the other colour.

    Lines after the second are dashed; the point under the pointer says which line it is of.
    """
    content = ""
    for number, (name, points) in enumerate(lines.items()):
        kind = ("micro", "macro")[number % 2]
        titles = [f"{name}: {x:.3f}, {y:.4f}" for x, y in points]
        dots = "".join(_dot(point, own, kind) for point, own in zip(points, titles, strict=True))
        content += _line(points, kind if number < 2 else f"{kind} dashed") + dots
    return _frame(title, across, up, content)


def _frame(title: str, across: str, up: str, content: str) -> str:
    width, height = LEFT + SIDE + 12, TOP + SIDE + BELOW
    ticks = "".join(_tick(i / 5) for i in range(6))
    middle = TOP + SIDE / 2
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f'<rect class="plot" x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>{ticks}{content}'
        f'<text class="axis" x="{LEFT + SIDE / 2}" y="{height - 6}" text-anchor="middle">'
        f'{escape(across)}</text><text class="axis" x="12" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 12 {middle})">{escape(up)}</text></svg>'
    )


def _tick(value: float) -> str:
    x, y = _at(value, value)
    bottom = TOP + SIDE
    return (
        f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}M{LEFT} {y:.1f}H{LEFT + SIDE}"/>'
        f'<text class="tick" x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{value:.1f}</text>'
        f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>'
    )


def _equal_f1(f1: float) -> str:
    recalls = [f1 / (2 - f1) + i / 40 * (1 - f1 / (2 - f1)) for i in range(41)]
    points = [(r, f1 * r / (2 * r - f1)) for r in recalls]
    x, y = _at(f1, f1)
    label = f'<text class="tick" x="{x - 4:.1f}" y="{y + 12:.1f}" text-anchor="end">{f1:.1f}</text>'
    return _line(points, "guide") + label


def _curve(average: str, points: list[dict[str, Any]]) -> str:
    coordinates = [(one["recall"], one["precision"]) for one in points]
    titles = [
        f"{average}, β = {_beta(one['beta'])}: precision {one['precision']:.4f}, "
        f"recall {one['recall']:.4f}"
        for one in points
    ]
    inner = list(zip(coordinates, titles, strict=True))[1:-1]
    dots = "".join(_dot(point, title, average) for point, title in inner)
    return _line(coordinates, average) + dots


def _beta(value: float | None) -> str:
    return "∞" if value is None else f"{value:.3g}"


def _line(points: list[tuple[float, float]], kind: str) -> str:
    path = " ".join("{:.1f},{:.1f}".format(*_at(*point)) for point in points)
    return f'<polyline class="{kind}" points="{path}"/>' if points else ""


def _dot(point: tuple[float, float], title: str, kind: str = "") -> str:
    x, y = _at(*point)
    return (
        f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="3">'
        f"<title>{escape(title)}</title></circle>"
    )


def _point(average: str, recall: float | None, precision: float | None) -> str:
    if recall is None or precision is None:
        return ""
    x, y = _at(recall, precision)
    kind = average.partition("_")[0]
    title = f"the decision, {average}: precision {precision:.4f}, recall {recall:.4f}"
    return (
        f'<path class="chosen {kind}" d="M{x:.1f} {y - 7:.1f}l6 6-6 6-6-6z">'
        f"<title>{escape(title)}</title></path>"
    )


def _at(x: float, y: float) -> tuple[float, float]:
    return LEFT + SIDE * x, TOP + SIDE * (1 - y)
