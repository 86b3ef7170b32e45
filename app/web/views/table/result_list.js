/** The rows that came back, and one of them whole in a dialog. */

import { element } from "../../element.js";
import { columnName, short } from "../../files/preview.js";
import { count } from "../../numbers.js";
import { button, pick, stack } from "../../parts.js";
import { virtualList } from "../../virtual_list.js";

const ADDED_WIDTHS = ["minmax(130px, 1.2fr)", "130px", "minmax(140px, 1fr)", "minmax(150px, 1fr)"];
const REASONS = 2;

/** The node, and `update()` after more rows have come. Shown are the texts and what was added. */
export function resultList(answers, texts, hasReasons) {
  let onlyReview = false;
  const columns = shownColumns(answers, texts, hasReasons);
  const list = virtualList({
    label: "Rows with their labels",
    columns: [{ title: "row", width: "72px" }, ...columns],
    cells: (place) => {
      const number = onlyReview ? answers.review[place] : place, cells = answers.row(number);
      return [opener(answers.columns, cells, count(number + 1)), ...columns.map((one) => short(cells[one.place] ?? ""))];
    },
  });
  const update = () => list.update(onlyReview ? answers.review.length : answers.counts.rows);
  const box = element("input", { type: "checkbox", onchange: () => {
    onlyReview = box.checked;
    update();
  } });
  return { node: stack([pick("Only rows to review", box), list.node]), update };
}

function shownColumns({ columns }, texts, hasReasons) {
  const first = columns.length - ADDED_WIDTHS.length;
  const own = texts.map((place) => ({ place, width: "minmax(150px, 2fr)" }));
  const added = ADDED_WIDTHS.map((width, number) => ({ place: first + number, width }));
  const shown = [...own, ...added.filter((_, number) => hasReasons || number !== REASONS)];
  return shown.map((one) => ({ ...one, title: columnName(columns[one.place]) }));
}

function opener(columns, cells, number) {
  const show = () => {
    const facts = columns.map((name, place) => [element("dt", {}, name), element("dd", { class: "text" }, cells[place] ?? "")]);
    const form = element("form", { method: "dialog" }, [
      element("dl", { class: "row-cells" }, facts), element("div", {}, element("button", {}, "Close")),
    ]);
    const dialog = element("dialog", { class: "wide", "aria-label": `Row ${number}`, onclose: () => dialog.remove() }, form);
    document.body.append(dialog);
    dialog.showModal();
  };
  return button(number, show, { class: "quiet", "aria-label": `Show row ${number}` });
}
