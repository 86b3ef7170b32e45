/** What several views are made of: links, buttons, cards, fields, tables, notices. */

import { element } from "./element.js";

export const link = (title, to, kind = null) => element("a", { href: to, class: kind }, title);
export const button = (title, onclick, attributes = {}) => element("button", { onclick, ...attributes }, title);
export const soft = (text) => element("p", { class: "soft" }, text);
export const row = (children, kind = "") => element("div", { class: `row ${kind}` }, children);
export const stack = (children = [], kind = "") => element("div", { class: `stack ${kind}` }, children);

/** A view: its title, what stands beside it, and what it is made of. */
export function viewOf(title, aside, children) {
  const head = element("div", { class: "view-head" }, [element("h1", {}, title), aside]);
  return element("div", { class: "view" }, [head, children]);
}

/** A card with a heading, and what stands beside the heading. */
export function card(title, children, aside = null) {
  const heading = element("h2", {}, title);
  const head = aside ? element("div", { class: "card-head" }, [heading, aside]) : heading;
  return element("section", { class: "card stack" }, [head, children]);
}

/** A control with its name. */
export const field = (title, control) => element("label", { class: "field" }, [element("span", {}, title), control]);

/** A check box with its name. */
export const pick = (title, box) => element("label", { class: "pick" }, [box, element("span", {}, title)]);

/** A field of plain text, such as an operating point. */
export const textField = (value) => element("input", { type: "text", value, spellcheck: "false" });

/** A select of values, or of `[value, title]`. */
export function select(values, attributes = {}) {
  const pairs = values.map((one) => (Array.isArray(one) ? one : [one, one]));
  return element("select", attributes, pairs.map(([value, title]) => element("option", { value }, title)));
}

/** An error as a sentence. */
export const failure = (error) => element("p", { class: "notice error", role: "alert" }, error.message);

/** Sentences to know before a figure is quoted; nothing where there are none. */
export function warnings(sentences) {
  if (!sentences.length) return null;
  return element("ul", { class: "notice warn" }, sentences.map((sentence) => element("li", {}, sentence)));
}

/** Names with large values: `[name, value, what stands below]`. */
export function counts(rows, kind = "") {
  const cell = ([name, value, below]) => element("div", {}, [
    element("dt", {}, name), element("dd", { class: "number" }, value),
    below && element("dd", { class: "soft number" }, below),
  ]);
  return element("dl", { class: `counts ${kind}` }, rows.map(cell));
}

/** A bar with a sentence beside it: `{node, show(share, sentence)}`; the share may be unknown. */
export function progressBar(label) {
  const bar = element("progress", { max: 1, "aria-label": label });
  const said = element("span", { class: "soft number", role: "status" });
  const show = (share, sentence) => {
    if (share != null) bar.value = share;
    said.textContent = sentence;
  };
  return { node: row([bar, said], "grow"), show };
}

/** A table that scrolls sideways, of texts or nodes; columns of nothing but numbers stand right. */
export function cellsTable(label, columns, rows) {
  const isNumeric = (place) => rows.some((cells) => cells[place]) && rows.every((cells) => isFigure(cells[place]));
  const kinds = columns.map((_, place) => (place && isNumeric(place) ? "figure" : null));
  const cell = (tag, attributes) => (content, place) => element(tag, { class: kinds[place], ...attributes }, content);
  const lines = rows.map((cells) => element("tr", {}, cells.map(cell("td"))));
  const table = element("table", { class: "cells" }, [
    element("thead", {}, element("tr", {}, columns.map(cell("th", { scope: "col" })))), element("tbody", {}, lines),
  ]);
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
}

const isFigure = (cell) => typeof cell === "string" && /^[-+−–\d.,% ]*$/.test(cell);
