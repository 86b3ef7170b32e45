/** Why a label has its score: what each word, neighbour or rule adds. */

import { element } from "../../element.js";
import { signed } from "../../numbers.js";

const SHOWN = 8;
const KINDS = { term: "", neighbour: "training document ", rule: "rule " };

/** The reasons of an explained label as a sum that ends in its score. */
export function reasonTable(label) {
  const shown = label.because.slice(0, SHOWN);
  const others = label.because.slice(SHOWN);
  const rest = others.reduce((sum, reason) => sum + reason.weight, label.rest ?? 0);
  const weights = [...shown.map((reason) => reason.weight), label.bias ?? 0, rest];
  const strongest = Math.max(...weights.map(Math.abs)) || 1;
  const line = (name, weight) => row(name, weight, strongest);
  return element("div", { class: "stack" }, [
    label.approximate && element("p", { class: "notice warn" },
      "Approximate: what a word adds is estimated from this network's gradients."),
    element("table", { class: "reasons" }, [
      element("caption", { class: "unseen" }, "What adds to the score"),
      element("tbody", {}, [
        shown.map((reason) => line(named(reason), reason.weight)),
        line("everything else in the text (rest)", rest),
        line("where the label starts (bias)", label.bias ?? 0),
      ]),
      element("tfoot", {}, element("tr", {}, [
        element("th", { scope: "row" }, "score"), element("td"),
        element("td", {}, label.score == null ? "none" : signed(label.score)),
      ])),
    ]),
  ]);
}

function named(reason) {
  const kind = Object.keys(KINDS).find((name) => reason[name] != null);
  return [KINDS[kind], element("bdi", { class: "term" }, reason[kind])];
}

function row(name, weight, strongest) {
  const share = (50 * Math.abs(weight)) / strongest;
  const side = weight < 0 ? { right: "50%" } : { left: "50%" };
  return element("tr", {}, [
    element("th", { scope: "row" }, name),
    element("td", { class: "diverging", "aria-hidden": "true" }, element("span", {
      class: weight < 0 ? "minus" : "plus", style: { width: `${share}%`, ...side },
    })),
    element("td", {}, signed(weight)),
  ]);
}
