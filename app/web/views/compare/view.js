/** Compare: two evaluations of the same data, what differs between them first. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { titleOf } from "../../evaluations.js";
import { moment } from "../../format.js";
import { count, decimal, signed } from "../../numbers.js";
import { card, cellsTable, link, pick, soft, viewOf } from "../../parts.js";
import { address } from "../../router.js";

const SHOWN_LABELS = 200;

/** The view of `#/compare/A/B`. */
export async function render({ parameters: { a, b }, signal }) {
  const found = await fetchJson("comparisons", { json: { a, b }, signal });
  return viewOf("Comparison", null, [
    element("div", { class: "columns" }, [system("A", found.a), system("B", found.b)]),
    element("p", { class: "notice conclusion" }, found.conclusion),
    filtered("Settings", settings(found), ["setting", "A", "B"]),
    filtered("Figures", figures(found), ["figure", "A", "B", "A − B", "95 % interval", "p"]),
    filtered("Labels won and lost", labels(found), ["label", "in test", "F1 of A", "F1 of B", "A − B"]),
    documents(found),
  ]);
}

function system(letter, one) {
  const about = [one.name, moment(one.created), one.note].filter(Boolean).join(" · ");
  return card([`${letter}: `, link(titleOf(one), address(["evaluations", one.id]))], soft(about));
}

/** A card whose rows, `{isEqual, cells}`, are those that differ; a box shows the others, too. */
function filtered(title, rows, columns) {
  const different = rows.filter(({ isEqual }) => !isEqual), place = element("div");
  const box = element("input", { type: "checkbox", checked: true, onchange: () => show() });
  const show = () => {
    const shown = (box.checked ? different : rows).map(({ cells }) => cells);
    replace(place, shown.length ? cellsTable(title, columns, shown) : "Nothing differs.");
  };
  show();
  return card(title, place, pick(`Only differences (${count(different.length)} of ${count(rows.length)})`, box));
}

function settings({ a, b }) {
  const values = [a, b].map((one) => ({ model: one.model, version: one.version, ...one.options }));
  return [...new Set(values.flatMap(Object.keys))].map((name) => {
    const [one, other] = values.map((given) => [given[name] ?? "–"].flat().join(", "));
    return { isEqual: one === other, cells: [name.replaceAll("_", " "), one, other] };
  });
}

/** Figures whose interval of the difference leaves 0 out differ by more than chance: they come first. */
function figures({ a, b, tests: { bootstrap } }) {
  const rows = Object.keys({ ...a.figures, ...b.figures }).map((name) => {
    const one = a.figures[name], other = b.figures[name], test = bootstrap[name];
    const difference = one == null || other == null ? "–" : signed(one - other);
    const tested = test ? [test.interval.map(signed).join(" to "), test.p.toPrecision(2)] : ["", ""];
    return {
      isEqual: one === other, isClear: Boolean(test) && test.interval[0] * test.interval[1] > 0,
      cells: [name, decimal(one), decimal(other), difference, ...tested],
    };
  });
  return rows.sort((one, other) => other.isClear - one.isClear);
}

function labels({ labels: all }) {
  const bySize = [...all].sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
  return bySize.slice(0, SHOWN_LABELS).map(({ label, support, f1_a: one, f1_b: other, difference }) => ({
    isEqual: !difference, cells: [label, count(support), decimal(one), decimal(other), signed(difference)],
  }));
}

function documents({ documents: listed, n_documents: all }) {
  const names = (labels) => labels.join(", ") || "–";
  const rows = listed.map((one) => [one.id ?? `line ${count(one.line)}`, ...[one.true, one.a, one.b].map(names)]);
  const title = `Documents that differ (${listed.length < all ? `first ${count(listed.length)} of ` : ""}${count(all)})`;
  if (!rows.length) return card(title, "Both gave every document the same labels.");
  return card(title, cellsTable(title, ["document", "true", "A", "B"], rows));
}
