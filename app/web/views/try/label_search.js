/** Finds any label of a model; the service searches, and a few of its results are shown. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { latest } from "../../latest.js";

const PAUSE = 150;
const SHOWN = 12;

/** The search in the labels of `asked.model`: its node, and `clear()`. `onchoose(label)`. */
export function labelSearch({ asked, signal, onchoose }) {
  const results = element("ul", { class: "results" });
  const note = element("p", { class: "soft small", "aria-live": "polite" });
  const input = element("input", {
    type: "search", placeholder: "Find another label", "aria-label": "Find another label",
    oninput: () => (input.value.trim() ? ask(input.value.trim()) : clear()),
  });
  const ask = latest({
    pause: PAUSE,
    answer: (q, stop) =>
      fetchJson(`/models/${encodeURIComponent(asked.model)}/labels`, { query: { q }, signal: stop }),
    show: ({ labels, names = {} }) => {
      replace(results, labels.slice(0, SHOWN).map((label) => result(label, names[label])));
      replace(note, told(labels.length));
    },
    fail: (error) => replace(note, error.message),
  });
  signal.addEventListener("abort", ask.stop);

  function clear() {
    ask.stop();
    input.value = "";
    replace(results, []);
    replace(note, []);
  }

  function result(label, name) {
    const choose = () => { clear(); onchoose(label); };
    return element("li", {}, element("button", { type: "button", class: "quiet", onclick: choose }, [
      element("bdi", { class: "label-name" }, name ?? label),
      name && name !== label && element("bdi", { class: "soft" }, label),
    ]));
  }

  return { node: element("div", { class: "search" }, [input, results, note]), clear };
}

function told(found) {
  if (found === 0) return "No label has that in its name.";
  return found > SHOWN ? `The first ${SHOWN} of ${found >= 1000 ? "1,000 or more" : found}: type more of it.` : "";
}
