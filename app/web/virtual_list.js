/** A table of any length of which only the rows in view are nodes. */

import { element, replace } from "./element.js";

const BEYOND = 6;
const ROW_HEIGHT = 36;

/** The first row to draw and the one behind the last, a few beyond either edge. */
export function visibleRange({ top, height, rowHeight, count }) {
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight), count) - BEYOND);
  return [first, Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND)];
}

/**
 * The list's node, `update(count)`, which draws the rows in view again, and `sorted(column, order)`.
 *
 * `columns` are `{title, width}`, titles texts or nodes; `cells(number)` gives the cells of a row.
 */
export function virtualList({ label, columns, cells }) {
  let count = 0, isWaiting = false;
  const heads = columns.map(({ title }) => element("div", { role: "columnheader" }, title));
  const body = element("div", { class: "list-body", role: "rowgroup" });
  const top = element("div", { class: "list-top", role: "rowgroup" }, rowOf(heads, 0));
  const style = { "--columns": columns.map(({ width }) => width).join(" "), "--row": `${ROW_HEIGHT}px` };
  const node = element("div", { class: "list", role: "table", "aria-label": label, tabindex: 0, style }, [top, body]);
  const line = (number) => rowOf(cells(number).map((cell) => element("div", { role: "cell" }, cell)), number + 1);
  const draw = () => {
    isWaiting = false;
    const view = { top: node.scrollTop, height: node.clientHeight || 600, rowHeight: ROW_HEIGHT, count };
    const [first, last] = visibleRange(view);
    replace(body, Array.from({ length: last - first }, (_, place) => line(first + place)));
  };
  node.addEventListener("scroll", () => {
    if (!isWaiting) requestAnimationFrame(draw);
    isWaiting = true;
  }, { passive: true });
  new ResizeObserver(draw).observe(node);
  const update = (rows) => {
    count = rows;
    node.setAttribute("aria-rowcount", count + 1);
    body.style.setProperty("height", `${count * ROW_HEIGHT}px`);
    draw();
  };
  return { node, update, sorted: (column, order) => heads[column].setAttribute("aria-sort", order) };
}

/** A row, of which the first is the header. */
function rowOf(children, index) {
  const style = { top: `${(index - 1) * ROW_HEIGHT}px` };
  return element("div", { role: "row", "aria-rowindex": index + 1, style }, children);
}
