/** What the views of models share: facts, badges, bars of terms. */

import { element } from "../../element.js";
import { addStylesheet } from "../../stylesheet.js";

await addStylesheet(new URL("models.css", import.meta.url));

/** Names and values side by side; values that are null are left out. */
export function facts(pairs) {
  return element("dl", { class: "facts" }, pairs.filter(([, value]) => value != null).map(([name, value]) => [
    element("dt", {}, name), element("dd", {}, value),
  ]));
}

/** A word in a coloured box: `good`, `bad` or nothing. */
export const badge = (text, kind = "") => element("span", { class: `badge ${kind}` }, text);

/** Words with bars as long as their weights; `kind` is `plus` or `minus`. */
export function termBars(rows, kind) {
  const longest = Math.max(...rows.map(([, weight]) => Math.abs(weight)));
  return element("ol", { class: `terms ${kind}` }, rows.map(([word, weight]) => element("li", {}, [
    element("span", { class: "word" }, word),
    element("span", { class: "bar", style: { "--length": Math.abs(weight) / longest } }),
    element("span", { class: "number" }, weight.toFixed(2)),
  ])));
}
