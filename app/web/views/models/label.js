/** A label's page: its cut, its held-out counts, its own curve, what speaks for and against it. */

import { fetchJson } from "../../api.js";
import { element } from "../../element.js";
import { count, percent } from "../../numbers.js";
import { card, soft } from "../../parts.js";
import { address } from "../../router.js";
import { facts, termBars } from "./parts.js";
import { labelPlot } from "./plots.js";

/** The view. */
export async function render({ parameters: { name, label }, signal }) {
  const path = `/models/${encodeURIComponent(name)}/label`;
  const found = await fetchJson(path, { query: { label }, signal });
  const isNamed = found.name && found.name !== label;
  return element("div", { class: "view" }, [
    element("div", { class: "stack long" }, [
      crumbs(name, found.ancestors),
      element("h1", { dir: "auto" }, short(found.name || label, 300)),
      isNamed && element("p", { class: "soft", dir: "auto" }, short(label, 300)),
      found.description && element("p", { dir: "auto" }, short(found.description, 2000)),
    ]),
    found.trained.map((trained) => trainedLabel(trained, found)),
    rows("Hand-written rules", found.hand_rules.map(({ then, when }) =>
      [`${then} where`, element("code", {}, when)])),
  ]);
}

const short = (text, most = 60) => (text.length > most ? `${text.slice(0, most)}…` : text);

function crumbs(model, ancestors) {
  const above = [...ancestors].reverse().map(({ label, name, is_answered: isAnswered }) => {
    const text = short(name || label);
    return isAnswered ? element("a", { href: address(["models", model, "label", label]) }, text) : text;
  });
  const all = [element("a", { href: address(["models", model]) }, model), ...above];
  return element("nav", { "aria-label": "Above this label" },
    element("ol", { class: "crumbs" }, all.map((one) => element("li", { dir: "auto" }, one))));
}

function trainedLabel(trained, { label, decision }) {
  const { held_out: held, rules, unexplained } = trained;
  const terms = (title, list, kind) => list.length > 0
    && card(title, termBars(list.map(({ term, weight }) => [term, weight]), kind));
  return [
    trained.label !== label && element("h2", { dir: "auto" }, `Trained as ${short(trained.label)}`),
    element("div", { class: "columns" }, [
      card("Cut and held-out counts", [
        facts([...cutFacts(trained, decision), ...heldOutFacts(held)]),
        held?.is_exact === false && soft("The counts are those of the nearest cut whose counts are stored."),
      ]),
      held && card("Precision and recall", labelPlot(held)),
      terms("Speaks for it", trained.terms_for, "plus"),
      terms("Speaks against it", trained.terms_against, "minus"),
    ]),
    rows("Learnt rules", rules.map(({ rule, score }) => [element("code", {}, rule || "otherwise"), `score ${score.toFixed(2)}`])),
    unexplained.length > 0 && element("p", { class: "notice" }, `The scores of ${unexplained.join(", ")} are neither `
      + "sums over words nor given by rules: ask for the reasons of a text."),
  ];
}

function rows(title, lines) {
  return lines.length > 0 && card(title, element("ul", { class: "rows" }, lines.map((line) => element("li", {}, line))));
}

function cutFacts({ threshold, training_documents: documents, bias }, decision) {
  return [
    ["Decision", decision],
    ["Cut", threshold == null ? "none: it is never assigned, or by rank" : `score above ${threshold.toFixed(4)}`],
    ["Bias", bias?.toFixed(4)],
    ["Training documents", count(documents)],
  ];
}

function heldOutFacts(held) {
  if (!held) return [];
  const { documents, positives, tp, fp } = held;
  const ratio = (part, whole) => percent(whole ? part / whole : null);
  return [
    ["Held-out documents", `${count(documents)}, of which ${count(positives)} have the label`],
    ["Right", count(tp)], ["Wrong", count(fp)], ["Missed", count(positives - tp)],
    ["Precision", ratio(tp, tp + fp)], ["Recall", ratio(tp, positives)], ["F1", ratio(2 * tp, tp + fp + positives)],
  ];
}
