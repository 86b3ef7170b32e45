/** Try: a text in, its labels out as one types; why each came, and what other cuts would give. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { latest } from "../../latest.js";
import { addStylesheet } from "../../stylesheet.js";
import { answerCard } from "./answer_card.js";
import { firstModel, modelChooser } from "./model_chooser.js";
import { labelsQuery } from "./requests.js";
import { slider } from "./slider.js";
import { textField } from "./text_field.js";

await addStylesheet(new URL("try.css", import.meta.url));

const PAUSE = 120;
const kept = { text: "", model: null };

/** The view; the text and the model are as they were when it was left. */
export async function render({ query, signal }) {
  const listed = await fetchJson("/models", { signal });
  const models = listed.models.filter((model) => model.state === "ready");
  const chosen = firstModel(models, query.get("model"), kept.model, listed.default);
  const title = element("h1", {}, "Try a text");
  if (chosen) return tryView({ title, models, chosen, signal });
  const said = "No model is ready yet. Train one, or wait until it is loaded.";
  return element("div", { class: "view" }, [title, element("p", { class: "notice" }, said)]);
}

function tryView({ title, models, chosen, signal }) {
  const asked = { text: kept.text, model: chosen, point: null };
  const sliderPlace = element("div");
  let cut = null;
  const text = textField({ initial: asked.text, onchange: (value) => change({ text: value }) });
  const card = answerCard({ asked, signal, ontint: text.tint });
  const ask = latest({
    pause: PAUSE,
    answer: ({ text: own }, stop) =>
      (own.trim() ? fetchJson("/predict", { json: labelsQuery(asked), signal: stop }) : null),
    show: (answer) => {
      card.show(answer);
      if (answer) cut?.settle(answer.operating_point);
    },
    fail: card.fail,
  });
  signal.addEventListener("abort", ask.stop);

  function change(changed) {
    Object.assign(asked, changed);
    [kept.text, kept.model] = [asked.text, asked.model];
    ask(asked);
  }

  async function use(reference) {
    const model = models.find(({ name }) => name === reference.split("@")[0]);
    change({ model: reference, point: null, hasAncestors: model.has_taxonomy });
    ask.now(asked);
    cut = null;
    card.forget();
    const made = await sliderOf({ model, reference, signal, onchoose: (point) => change({ point }) });
    if (asked.model !== reference) return;
    cut = made.settle && made;
    replace(sliderPlace, made.node);
  }

  use(chosen);
  return element("div", { class: "view" }, [
    element("div", { class: "view-head" }, [title, modelChooser({ models, chosen, onchange: use })]),
    element("div", { class: "columns" }, [
      element("div", { class: "stack asking" }, [text.node, sliderPlace]), card.node,
    ]),
  ]);
}

/** The slider of a model, at its own cut; without a curve, a node that says why. */
async function sliderOf({ model, reference, signal, onchoose }) {
  try {
    const curve = await fetchJson(`/models/${encodeURIComponent(reference)}/curve`, { signal });
    const made = slider({ curve, onchoose });
    made.settle({ recall: model.figures?.held_out?.micro_recall });
    return made;
  } catch (error) {
    return { node: element("p", { class: "notice" }, `No cut can be chosen: ${error.message}.`) };
  }
}
