/** The labels of a report: sorted by any column, searched, only those in view drawn. */

import { element } from "../../element.js";
import { count, decimal } from "../../numbers.js";
import { button, link, row, stack } from "../../parts.js";
import { address } from "../../router.js";
import { virtualList } from "../../virtual_list.js";
import { sortedLabels } from "./sorted_labels.js";

const COLUMNS = {
  label: "label", training_documents: "trained", support: "in test", tp: "right", fp: "wrong", fn: "missed",
  precision: "precision", recall: "recall", f1: "F1", average_precision: "AP",
};
const NAMES = Object.keys(COLUMNS);
const SHARES = ["precision", "recall", "f1", "average_precision"];

/** The search field and the table. */
export function labelTable(labels, model) {
  const sorting = { search: "", by: "support", isRising: false };
  let rows = [];
  const said = element("span", { class: "soft number", role: "status" });
  const list = virtualList({
    label: "Labels",
    columns: NAMES.map((name) => ({
      width: name === "label" ? "minmax(140px, 2fr)" : "minmax(76px, 1fr)",
      title: button(COLUMNS[name], () => sortBy(name), { class: "quiet" }),
    })),
    cells: (number) => NAMES.map((column) => cell(rows[number], column, model)),
  });
  const show = () => {
    const order = sorting.isRising ? "ascending" : "descending";
    rows = sortedLabels(labels, sorting);
    said.textContent = `${count(rows.length)} of ${count(labels.length)}`;
    NAMES.forEach((name, place) => list.sorted(place, name === sorting.by ? order : "none"));
    list.update(rows.length);
  };
  const sortBy = (name) => {
    Object.assign(sorting, { by: name, isRising: name === sorting.by ? !sorting.isRising : name === "label" });
    show();
  };
  const find = () => {
    sorting.search = search.value;
    show();
  };
  const title = "Find a label";
  const search = element("input", { type: "search", placeholder: title, "aria-label": title, oninput: find });
  show();
  return stack([row([element("span", { class: "note" }, search), said]), list.node]);
}

function cell(label, column, model) {
  const value = label[column];
  if (column === "label") {
    return link([value, label.name].filter(Boolean).join(" "), address(["models", model, "label", value]));
  }
  if (value == null) return "–";
  return SHARES.includes(column) ? decimal(value) : count(value);
}
