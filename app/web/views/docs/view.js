/** Docs: every operation of the API, described by its own document, to be tried from here. */

import { addressOf, fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { addStylesheet } from "../../stylesheet.js";
import { operationForm } from "./operation.js";

await addStylesheet(new URL("docs.css", import.meta.url));

/** The view. */
export async function render({ signal }) {
  const document = await fetchJson("/openapi.json", { signal });
  const operations = operationsOf(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const formOf = async (one) => {
    const known = await knownValues(one.operation, document, signal);
    return operationForm(one, { document, known, signal });
  };
  return element("div", { class: "view" }, [
    element("div", { class: "view-head" }, [
      element("h1", {}, "API"), element("a", { href: addressOf("/openapi.json") }, "openapi.json"),
    ]),
    element("p", { class: "soft" }, "Every operation can be tried here: open one, change what you like, send it."),
    tags.map((tag) => element("section", { class: "stack" }, [
      element("h2", {}, tag), operations.filter((one) => one.tag === tag).map((one) => entry(one, formOf)),
    ])),
  ]);
}

function operationsOf(document) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      ({ path, method, operation, tag: operation.tags?.[0] ?? "other" })));
}

function entry(one, formOf) {
  const { method, path, operation: { description = "", security } } = one;
  const scope = scopesOf(security).join(", ");
  const place = element("div");
  const open = async () => {
    if (node.open && !place.firstChild) replace(place, await formOf(one));
  };
  const node = element("details", { class: "card operation", ontoggle: open }, [
    element("summary", {}, [
      element("code", { class: `method ${method}` }, method.toUpperCase()), element("code", {}, path),
      element("span", {}, description.split("\n")[0]), element("span", { class: "soft" }, scope || "open"),
    ]),
    place,
  ]);
  return node;
}

/** Values that a try begins with: a model, its version, one of its labels, the last evaluation. */
async function knownValues({ security }, document, signal) {
  if (!security) return {};
  const known = {};
  try {
    const { models, default: chosen } = await fetchJson("/models", { signal });
    const ready = models.filter((model) => model.state === "ready");
    const { name, version } = ready.find((model) => model.name === chosen) ?? ready[0];
    const { labels } = await fetchJson(`/models/${encodeURIComponent(name)}/labels`, { signal });
    Object.assign(known, { name, model: name, version, label: labels[0] });
    if (!document.paths["/evaluations"] || !scopesOf(security).includes("evaluate")) return known;
    const { evaluations: [last] } = await fetchJson("/evaluations", { signal });
    return { ...known, id: last?.id, a: last?.id, b: last?.id };
  } catch {
    return known; // who may not see these fills the form in by hand
  }
}

const scopesOf = (security = []) => security.flatMap((scheme) => Object.values(scheme).flat());
