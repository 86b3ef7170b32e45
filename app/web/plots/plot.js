/** A plot of lines, bands and dots over two axes, as SVG. */

import { svg } from "../element.js";
import { addStylesheet } from "../stylesheet.js";
import { scale, ticks } from "./scale.js";

await addStylesheet(new URL("plot.css", import.meta.url));

const WIDTH = 400;
const HEIGHT = 300;
const FRAME = { left: 46, right: WIDTH - 10, top: 10, bottom: HEIGHT - 42 };

/**
 * The plot. `title` says in a sentence what it shows, `x` and `y` are `{ label, range }`, a line is
 * `{ points: [[x, y]], kind }`, a band `[[x, low, high]]`, a dot `{ x, y, radius, kind, title }`.
 * Kinds are classes: `main`, `faint`, `chosen`.
 */
export function plot({ title, x, y, bands = [], lines = [], dots = [] }) {
  const at = {
    x: scale(x.range, [FRAME.left, FRAME.right]), y: scale(y.range, [FRAME.bottom, FRAME.top]),
  };
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", "aria-label": title }, [
    ticks(x.range).map((value) => vertical(at.x(value), value)),
    ticks(y.range).map((value) => horizontal(at.y(value), value)),
    svg("text", { class: "axis", x: (FRAME.left + FRAME.right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, x.label),
    svg("text", {
      class: "axis", "text-anchor": "middle", transform: `translate(12 ${(FRAME.top + FRAME.bottom) / 2}) rotate(-90)`,
    }, y.label),
    bands.map((points) => svg("polygon", { class: "band", points: outline(points, at) })),
    lines.map(({ points, kind }) => svg("polyline", {
      class: `line ${kind ?? "main"}`, points: points.map(([a, b]) => `${at.x(a)},${at.y(b)}`).join(" "),
    })),
    dots.map((dot) => svg("circle", {
      class: `dot ${dot.kind ?? "main"}`, cx: at.x(dot.x), cy: at.y(dot.y), r: dot.radius ?? 4,
    }, svg("title", {}, dot.title))),
  ]);
}

function outline(points, at) {
  const low = points.map(([x, below]) => `${at.x(x)},${at.y(below)}`);
  const high = points.map(([x, , above]) => `${at.x(x)},${at.y(above)}`).reverse();
  return [...low, ...high].join(" ");
}

function vertical(x, value) {
  return [
    svg("line", { class: "grid", x1: x, x2: x, y1: FRAME.top, y2: FRAME.bottom }),
    svg("text", { class: "tick", x, y: FRAME.bottom + 16, "text-anchor": "middle" }, String(value)),
  ];
}

function horizontal(y, value) {
  return [
    svg("line", { class: "grid", x1: FRAME.left, x2: FRAME.right, y1: y, y2: y }),
    svg("text", { class: "tick", x: FRAME.left - 6, y: y + 4, "text-anchor": "end" }, String(value)),
  ];
}
