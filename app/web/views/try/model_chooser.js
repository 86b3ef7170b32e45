/** Which model answers, and which of its versions. */

import { element } from "../../element.js";

/**
 * A field with every model that is ready, as its name, and other versions of it that the service
 * has loaded, as `NAME@VERSION`. `onchange(reference)` is called with what was chosen.
 */
export function modelChooser({ models, chosen, onchange }) {
  const select = element("select", { onchange: () => onchange(select.value) },
    models.flatMap(referencesOf).map((reference) => element("option", { value: reference }, reference)));
  select.value = chosen;
  return element("label", { class: "choice" }, [element("span", {}, "Model"), select]);
}

const referencesOf = ({ name, version, versions = [] }) =>
  [name, ...versions.filter((other) => other !== version).map((other) => `${name}@${other}`)];

/** The reference to begin with: what was asked for, else the default, else the first; or null. */
export function firstModel(models, ...preferred) {
  const known = models.flatMap(referencesOf);
  return preferred.find((reference) => known.includes(reference)) ?? known[0] ?? null;
}
