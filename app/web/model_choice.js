/** A field to choose a model by. */

import { fetchJson } from "./api.js";
import { field, select, textField } from "./parts.js";

/**
 * The field's node, and `reference()`: `NAME@VERSION`, so that all of a run is one version's.
 * A key that may not list models can name one; nothing is the default model.
 */
export async function modelChoice() {
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
  return named(names, (name) => `${name}@${versions.get(name)}`);
}

const named = (control, reference) => ({ node: field("Model", control), reference: () => reference(control.value) });
