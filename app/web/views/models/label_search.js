/** A model's labels, searched by the service, a hundred at a time. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { latest } from "../../latest.js";
import { address } from "../../router.js";

const MOST = 100;
const PAUSE = 150;

/** The search box and the labels found. */
export function labelSearch(model, signal) {
  const list = element("ul", { class: "label-list" });
  const more = element("div", { class: "row" });
  const path = `/models/${encodeURIComponent(model)}/labels`;
  const ask = latest({
    pause: PAUSE,
    answer: ({ q, cursors }, stop) => fetchJson(path, { query: { q, cursor: cursors.at(-1) }, signal: stop }),
    show: ({ labels, names = {}, cursor }, { q, cursors }) => {
      const shown = labels.slice(0, MOST);
      const next = labels.length > MOST || cursor ? [...cursors, shown.at(-1)] : null;
      replace(list, shown.map((label) => entry(model, label, names[label])));
      replace(more, [
        !shown.length && "No label has this in it.",
        cursors.length > 1 && button("Previous", { q, cursors: cursors.slice(0, -1) }),
        next && button("Next", { q, cursors: next }),
      ]);
    },
    fail: (error) => replace(more, error.message),
  });
  const button = (name, question) => element("button", { onclick: () => ask.now(question) }, name);
  const question = (q) => ({ q, cursors: [""] });
  signal.addEventListener("abort", ask.stop);
  ask.now(question(""));
  const box = element("input", {
    type: "search", "aria-label": "Search labels", placeholder: "Search labels and their names",
    oninput: () => ask(question(box.value.trim())),
  });
  return [box, list, more];
}

function entry(model, label, name) {
  return element("li", { title: label.slice(0, 200) }, [
    element("a", { href: address(["models", model, "label", label]) }, element("bdi", {}, label.slice(0, 200))),
    name && element("bdi", { class: "soft" }, name.slice(0, 200)),
  ]);
}
