/** A model's card: what it was trained on and how, how good it is, its versions, its labels. */

import { fetchJson } from "../../api.js";
import { element } from "../../element.js";
import { moment, size } from "../../format.js";
import { count, percent } from "../../numbers.js";
import { card, counts, soft } from "../../parts.js";
import { labelSearch } from "./label_search.js";
import { failure } from "./list.js";
import { badge, facts } from "./parts.js";
import { calibrationPlot, curvePlot } from "./plots.js";
import { versionList } from "./versions.js";

/** The view. */
export async function render({ parameters: { name }, signal }) {
  const path = `/models/${encodeURIComponent(name)}`;
  const model = await fetchJson(`${path}/card`, { signal });
  const curve = model.has_curve ? await fetchJson(`${path}/curve`, { signal }) : null;
  return element("div", { class: "view" }, [
    element("div", { class: "row" }, [
      element("h1", {}, name), badge(model.state, model.state === "ready" ? "good" : "bad"),
      element("span", { class: "soft" }, model.version),
    ]),
    model.failed && failure(model.failed),
    model.version && described(model, curve),
    card("Versions", versionList(model)),
    model.version && card("Labels", labelSearch(name, signal)),
  ]);
}

function described(model, curve) {
  const pair = (...cards) => element("div", { class: "columns" }, cards);
  return [
    card("On held-out documents", heldOut(model.figures ?? {})),
    pair(card("Precision and recall", curvePlot(curve)), card("Calibration", calibrationPlot(model.reliability))),
    pair(card("Trained on", trainedOn(model)), card("Recipe", recipe(model))),
  ];
}

function heldOut({ held_out: found, held_out_documents: documents, held_out_by: by = "random", drift }) {
  if (!found) return soft("It was not tuned on held-out documents: train it with folds to know how good it is.");
  return [
    counts([
      ["micro F1", percent(found.micro_f1)], ["micro precision", percent(found.micro_precision)],
      ["micro recall", percent(found.micro_recall)], ["macro F1", percent(found.macro_f1)],
    ], "figures-large"),
    documents && soft(`${count(documents)} documents, each scored by a model trained without it (${by} folds).`),
    drift?.gap && soft(
      `The last ${count(drift.documents)} documents: micro F1 ${percent(drift.random_micro_f1)} by random folds, ` +
      `${percent(drift.forward_micro_f1)} by a model of the documents before them.`,
    ),
  ];
}

function trainedOn(model) {
  const listed = (values, text) => Object.entries(values).map(([name, value]) => text(name.replaceAll("_", " "), value));
  return facts([
    ...listed(model.trained_on, (name, value) => [name[0].toUpperCase() + name.slice(1), count(value)]),
    ["Data", element("code", {}, model.data_sha256.slice(0, 16))],
    ["Created", moment(model.created)],
    ["Time", listed(model.timings, (name, value) => `${name} ${value.toFixed(1)} s`).join(", ")],
    ["Size", size(model.bytes)],
    ["Seed", String(model.seed)],
    ["Packages", listed(model.packages, (name, version) => `${name} ${version}`).join(", ")],
  ]);
}

function recipe({ learner, features, vectorizer, decision, recipe: written }) {
  return [
    facts([["Learner", learner], ["Features", `${count(features)}, ${vectorizer}`], ["Decision", decision]]),
    element("pre", { class: "recipe", tabindex: "0", role: "group", "aria-label": "Recipe" }, JSON.stringify(written, null, 1)),
  ];
}
