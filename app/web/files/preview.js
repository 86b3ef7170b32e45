/** The first rows of a dropped file, and which of its columns are the text. */

import { element } from "../element.js";
import { cellsTable, pick } from "../parts.js";

const LONGEST = 120;

/** A text cut for a cell; line ends are shown as spaces. */
export function short(text, most = LONGEST) {
  const line = text.slice(0, most + 1).replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** A column's name, for people. */
export const columnName = (name) => short(name, 60) || "(no name)";

/** The rows below their columns; the columns at `marked` stand out. */
export function previewTable({ columns, preview }, marked) {
  const cell = (text, place) => (marked.includes(place) ? element("span", { class: "marked" }, text) : text);
  return cellsTable("First rows of the file", columns.map((name, place) => cell(columnName(name), place)),
    preview.map((row) => columns.map((_, place) => cell(short(row[place] ?? ""), place))));
}

/** Check boxes for the columns; `onChange(places)` gets those that are chosen, in order. */
export function columnChooser(columns, chosen, onChange) {
  const boxes = columns.map((_, place) => element("input", { type: "checkbox", checked: chosen.includes(place),
    onchange: () => onChange(boxes.flatMap((box, number) => (box.checked ? [number] : []))) }));
  return element("fieldset", { class: "choices" }, [
    element("legend", {}, "Text is in"), columns.map((name, place) => pick(columnName(name), boxes[place])),
  ]);
}
