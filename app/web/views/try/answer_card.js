/** The card of the answer: labels, the reasons of one, a search for others, and what is copied. */

import { fetchJson, key } from "../../api.js";
import { copyButton } from "../../clipboard.js";
import { element, replace } from "../../element.js";
import { latest } from "../../latest.js";
import { plural } from "../../numbers.js";
import { labelList } from "./label_list.js";
import { labelSearch } from "./label_search.js";
import { reasonTable } from "./reasons.js";
import { asCurl, asPython, plainQuery, reasonsQuery } from "./requests.js";

/**
 * The card of what is `asked`: `show(answer)` with null for none, `fail(error)`, and `forget()`,
 * for another model. `ontint(reasons)` is called with those of the open label; null: none is.
 */
export function answerCard({ asked, signal, ontint }) {
  let [answer, extra] = [null, null];
  const status = element("p", { class: "soft", "aria-live": "polite" });
  const empty = element("p", { class: "empty soft" }, "The labels of your text appear here as you type.");
  const list = labelList({ onopen: explain });
  const search = labelSearch({ asked, signal, onchoose: (label) => {
    extra = label;
    show(answer);
    list.open(label);
  } });
  const copying = copyRow(asked, () => answer);
  const why = latest({
    pause: 0,
    answer: ({ label }, stop) => explained(reasonsQuery(asked, label), stop),
    show: (label, { place }) => {
      replace(place, label ? reasonTable(label) : "The model gives this label no score.");
      ontint(label?.because ?? null);
    },
    fail: (error, { place }) => replace(place, error.message),
  });
  signal.addEventListener("abort", why.stop);

  function show(found) {
    answer = found;
    empty.hidden = Boolean(found);
    for (const node of [list.node, search.node, copying]) node.hidden = !found;
    replace(status, found ? plural(found.predictions[0].labels.length, "label") : []);
    if (found) list.show(found.predictions[0], extra);
  }

  function explain(label, place) {
    if (label) return void why.now({ label, place });
    why.stop();
    ontint(null);
    extra = null;
  }

  function fail(error) {
    show(null);
    replace(status, element("span", { class: "notice error" }, error.message));
  }

  show(null);
  const node = element("section", { class: "card stack", "aria-labelledby": "labels-title" }, [
    element("div", { class: "card-head" }, [element("h2", { id: "labels-title" }, "Labels"), status]),
    empty, list.node, search.node, copying,
  ]);
  return { node, show, fail, forget: () => { extra = null; search.clear(); } };
}

function copyRow(asked, answer) {
  const query = () => plainQuery(asked);
  return element("div", { class: "row copying" }, [
    element("span", { class: "soft small" }, "Copy"),
    copyButton("Labels", () => answer().predictions[0].labels.map((one) => one.label).join("\n")),
    copyButton("JSON", () => JSON.stringify(answer(), null, 2)),
    copyButton("curl", () => asCurl(query(), key())),
    copyButton("Python", () => asPython(query(), key())),
  ]);
}

let last = { question: "", label: null };

/** The label with its reasons; the same question is asked once: a moved slider changes none. */
async function explained(json, signal) {
  const question = JSON.stringify(json);
  if (question !== last.question) {
    last = { question, label: (await fetchJson("/predict", { json, signal })).predictions[0].labels[0] };
  }
  return last.label;
}
