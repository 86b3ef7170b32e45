/** The slider from precision to recall along a model's curve; moving it asks nobody. */

import { element, replace } from "../../element.js";
import { count, percent, percentInterval } from "../../numbers.js";
import { choices, completed, nearest, operatingPoint } from "./curve.js";

const NEARLY_ALL = 0.995;

/**
 * The slider's node and `settle(point)`, which shows where the service's own answer stands.
 * `onchoose(name)` is called with each operating point chosen; null: the model's own cut.
 */
export function slider({ curve, onchoose }) {
  const all = choices(curve);
  const figures = element("dl", { class: "figures" });
  const reset = element("button", {
    type: "button", class: "quiet", hidden: true, onclick: () => { choose(null); input.focus(); },
  }, "Back to the model's own");
  const input = element("input", {
    type: "range", min: "0", max: String(all.length - 1), step: "1",
    "aria-label": "From precise to complete", oninput: () => choose(Number(input.value)),
  });

  function choose(place) {
    reset.hidden = place === null;
    if (place !== null) tell(all[place]);
    onchoose(place === null ? null : operatingPoint(all[place], all));
  }

  function tell(point) {
    input.setAttribute("aria-valuetext",
      `precision ${percent(point.precision)}, recall ${percent(point.recall)}`);
    replace(figures, [
      figure("Precision", percent(point.precision), percentInterval(point.precision_interval)),
      figure("Recall", percent(point.recall), percentInterval(point.recall_interval)),
      figure("F1", percent(point.f1), percentInterval(point.f1_interval)),
      figure("Labels a text", point.labels ? point.labels.toFixed(2) : "–", ""),
    ]);
  }

  function settle(point) {
    if (!reset.hidden || point?.recall == null) return;
    const place = nearest(all, point.recall);
    input.value = place;
    tell(point.precision == null ? all[place] : completed(point, curve.label_cardinality));
  }

  const [first, last] = [all[0], all.at(-1)];
  const node = element("section", { class: "card", "aria-labelledby": "cut-title" }, [
    element("div", { class: "card-head" }, [element("h2", { id: "cut-title" }, "Cut"), reset]),
    element("div", { class: "slider-row" }, [
      stub(first.precision), input, stub(last.recall),
    ]),
    element("div", { class: "slider-ends soft" }, [
      end("Fewer wrong labels", "precision", first.precision),
      end("Fewer missed labels", "recall", last.recall),
    ]),
    figures,
    element("p", { class: "soft small" },
      `What to expect of new texts, from ${count(curve.documents)} held-out ones, with 90 % intervals.`),
  ]);
  return { node, settle };
}

/** The part of the track that no cut reaches. */
function stub(best) {
  return best < NEARLY_ALL && element("span", { class: "unattainable", "aria-hidden": "true" });
}

function end(name, measure, best) {
  return element("span", {}, [element("b", {}, name),
    best < NEARLY_ALL && `${measure} above ${percent(best)} is unattainable`]);
}

function figure(name, value, interval) {
  return element("div", {}, [
    element("dt", {}, name), element("dd", {}, [value, interval && element("small", {}, interval)]),
  ]);
}
