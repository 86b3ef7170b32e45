/** Models: every one there is, what answers, and what failed to load and why. */

import { fetchJson } from "../../api.js";
import { element } from "../../element.js";
import { moment } from "../../format.js";
import { count, percent } from "../../numbers.js";
import { address } from "../../router.js";
import { badge, facts } from "./parts.js";

const MOST = 200;
const STATES = { ready: "good", loading: "", failed: "bad" };

/** The view. */
export async function render({ signal }) {
  const { models, default: chosen } = await fetchJson("/models", { signal });
  return element("div", { class: "view" }, [
    element("h1", {}, "Models"),
    !models.length && element("p", { class: "soft" }, "There is no model yet: `labelserve train` makes one."),
    element("div", { class: "model-grid" }, models.slice(0, MOST).map((model) => modelCard(model, model.name === chosen))),
    models.length > MOST && element("p", { class: "soft" }, `${count(models.length - MOST)} more are not shown.`),
  ]);
}

function modelCard(model, isDefault) {
  return element("section", { class: "card stack" }, [
    element("div", { class: "row" }, [
      element("h2", {}, element("a", { href: address(["models", model.name]) }, model.name)),
      badge(model.state, STATES[model.state]),
      isDefault && badge("default"),
    ]),
    model.failed && failure(model.failed),
    model.version && facts([
      ["Version", model.version],
      ["Created", moment(model.created)],
      ["Learner", model.learner],
      ["Labels", count(model.labels)],
      ["Micro F1", percent(model.figures?.held_out?.micro_f1)],
    ]),
  ]);
}

/** Which version failed to load, and why. */
export function failure({ version, reason }) {
  return element("p", { class: "notice error" }, `Version ${version} could not be loaded: ${reason}`);
}
