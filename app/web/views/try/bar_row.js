/** One label as a bar: its names, its probability, and its cut as a tick. */

import { element } from "../../element.js";
import { percent } from "../../numbers.js";

/** A button with the bar, which opens or closes the label's reasons. */
export function barRow(label, isOpen, onclick) {
  const attributes = { type: "button", class: "bar-row", "aria-expanded": String(isOpen), onclick };
  return element("button", attributes, [names(label), figure(label), bar(label)]);
}

function names({ label, name, ancestors = [] }) {
  const above = ancestors.map((one) => one.name ?? one.label).reverse();
  return element("span", { class: "label-names" }, [
    above.length > 0 && element("span", { class: "path" }, element("bdi", {}, `${above.join(" › ")} ›`)),
    element("bdi", { class: "label-name" }, name ?? label),
    name && name !== label && element("bdi", { class: "soft" }, label),
  ]);
}

/** The probability, or the score where there is none; of a label only asked about neither is known. */
function figure({ score, probability }) {
  if (score === undefined) return null;
  const value = probability == null ? score?.toFixed(3) ?? "by rule" : percent(probability);
  return element("span", { class: "figure" }, value);
}

function bar({ probability, threshold_probability: cut }) {
  if (probability == null) return null;
  return element("span", { class: "track" }, [
    element("span", { class: "fill", style: { width: `${100 * probability}%` } }),
    cut != null && element("span", {
      class: "tick", title: `the cut: ${percent(cut)}`, style: { left: `${100 * cut}%` },
    }, element("span", { class: "unseen" }, `, cut at ${percent(cut)}`)),
  ]);
}
