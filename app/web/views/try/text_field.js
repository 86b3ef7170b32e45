/** The field of the text: typed, pasted or dropped as a file, with the words of a label tinted. */

import { element, replace } from "../../element.js";
import { count } from "../../numbers.js";
import { exampleText } from "./examples.js";
import { pieces } from "./spans.js";

const MOST_BYTES = 4_000_000;

/**
 * The card, and what it can: `text()`, `tint(reasons)` with null for none. `onchange` is called
 * when the text has changed.
 */
export function textField({ initial, onchange }) {
  const backdrop = element("div", { class: "backdrop", "aria-hidden": "true" });
  const note = element("p", { class: "soft number", "aria-live": "polite" });
  const field = element("textarea", {
    id: "text", rows: "9", spellcheck: "false", value: initial,
    placeholder: "Type or paste a text, or drop a file here.",
    oninput: changed, onscroll: () => { backdrop.scrollTop = field.scrollTop; },
  });
  const write = (text) => { field.value = text; changed(); };

  function changed() {
    tint(null);
    replace(note, `${count([...field.value].length)} characters`);
    onchange(field.value);
  }

  function tint(reasons) {
    replace(backdrop, reasons ? tinted(field.value, reasons) : []);
    backdrop.scrollTop = field.scrollTop;
  }

  async function take(file) {
    const text = await textOf(file).catch((error) => { replace(note, error.message); });
    if (text !== undefined) write(text);
  }

  const node = element("section", { class: "card text-card", "aria-labelledby": "text-title" }, [
    element("div", { class: "card-head" }, [
      element("h2", {}, element("label", { for: "text", id: "text-title" }, "Text")), note,
    ]),
    element("div", { class: "tinted-field" }, [backdrop, field]),
    element("div", { class: "row" }, [
      element("button", { type: "button", onclick: () => write(exampleText()) }, "Example"),
      filePicker(take),
      element("button", { type: "button", class: "quiet", onclick: () => { write(""); field.focus(); } }, "Clear"),
    ]),
  ]);
  acceptDrops(node, take);
  return { node, tint, text: () => field.value };
}

function tinted(text, reasons) {
  const found = pieces(text, reasons);
  const strongest = Math.max(...found.map((piece) => Math.abs(piece.weight))) || 1;
  return found.map((piece) => (piece.weight
    ? element("mark", {
      class: piece.weight > 0 ? "plus" : "minus",
      style: { "--strength": (0.04 + 0.56 * Math.abs(piece.weight / strongest)).toFixed(3) },
    }, piece.text) : piece.text));
}

function filePicker(take) {
  const input = element("input", {
    type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true",
    onchange: () => { if (input.files.length) take(input.files[0]); input.value = ""; },
  });
  return [element("button", { type: "button", onclick: () => input.click() }, "Open file"), input];
}

function acceptDrops(node, take) {
  node.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    node.classList.add("is-target");
  });
  node.addEventListener("dragleave", () => node.classList.remove("is-target"));
  node.addEventListener("drop", (event) => {
    node.classList.remove("is-target");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
}

async function textOf(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name}: too long for one text (4 MB at most)`);
  const text = await file.text();
  if (text.includes("\0")) throw new Error(`${file.name} is no text file`);
  return text;
}
