/** A field to choose a model by, or several. */

import { fetchJson } from "./api.js";
import { element } from "./element.js";
import { field, pick, select, stack, textField } from "./parts.js";

/**
 * The field's node, and `reference()`: `NAME@VERSION`, so that all of a run is one version's.
 * A key that may not list models can name one; nothing is the default model. With `several`, other
 * models can be chosen beside it: `references()` has them all.
 */
export async function modelChoice({ several = false } = {}) {
  const { default: first, models } = await fetchJson("models").catch((error) => {
    if (error.status !== 403) throw error;
    return {};
  });
  if (!models) return named(textField(""), (name) => name.trim() || null);
  const ready = models.filter(({ state }) => state === "ready");
  const versions = new Map(ready.map(({ name, version }) => [name, version]));
  if (!versions.size) throw new Error("No model is loaded yet.");
  const names = select([...versions.keys()]);
  if (versions.has(first)) names.value = first;
  return named(names, (name) => `${name}@${versions.get(name)}`, several ? [...versions.keys()] : []);
}

function named(control, referenceOf, names = []) {
  const boxes = names.map((name) => element("input", { type: "checkbox", value: name }));
  const others = names.length > 1 && element("details", {}, [
    element("summary", {}, "Compare with other models"),
    element("fieldset", { class: "choices" }, boxes.map((box) => pick(box.value, box))),
  ]);
  const reference = () => referenceOf(control.value);
  const references = () => [...new Set([reference(), ...boxes.filter((box) => box.checked).map((box) => referenceOf(box.value))])];
  return { node: stack([field("Model", control), others]), reference, references };
}
