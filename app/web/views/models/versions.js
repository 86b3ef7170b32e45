/** The versions of a model, and the dialog by which another one becomes current. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { moment, size } from "../../format.js";
import { count, percent } from "../../numbers.js";
import { soft } from "../../parts.js";
import { badge } from "./parts.js";

/** The list; where the service may write its models, with a button for each other version. */
export function versionList(model) {
  return [
    element("ul", { class: "rows" }, model.stored.map((version) => element("li", {}, [
      element("code", {}, version.version),
      element("span", { class: "soft" }, version.problem ?? described(version)),
      version.is_current ? badge("current", "good") : promotion(model, version),
    ]))),
    !model.may_promote && soft("This service may only read its models: make a version current with "
      + "`labelserve models use NAME@VERSION`."),
  ];
}

function described({ created, learner, labels, bytes, micro_f1: f1 }) {
  const facts = [moment(created), learner, `${count(labels)} labels`, size(bytes)];
  return (f1 == null ? facts : [...facts, `micro F1 ${percent(f1)}`]).join(" · ");
}

function promotion(model, { version, problem }) {
  if (!model.may_promote || problem) return null;
  const word = model.version && version < model.version ? "Roll back" : "Make current";
  const ask = () => confirm(model, version, word);
  return element("button", { onclick: ask, "aria-label": `${word}: ${version}` }, word);
}

function confirm(model, version, word) {
  const said = element("div");
  const promote = async () => {
    replace(said, element("p", { class: "soft", role: "status" }, "It is being verified …"));
    try {
      await fetchJson(`/models/${encodeURIComponent(model.name)}/current`, { method: "PUT", json: { version } });
      dialog.close();
      dispatchEvent(new HashChangeEvent("hashchange"));
    } catch (error) {
      replace(said, element("p", { class: "notice error", role: "alert" }, error.message));
    }
  };
  const submit = (event) => { event.preventDefault(); promote(); };
  const remove = () => dialog.remove();
  const dialog = element("dialog", { "aria-labelledby": "promote-title", onclose: remove }, element("form", { onsubmit: submit }, [
    element("h2", { id: "promote-title" }, `${word}?`),
    element("p", {}, `${model.name} will answer with version ${version} in place of ${model.version ?? "none"}, `
      + "for everyone who asks. It is verified first."),
    said,
    element("div", { class: "row" }, [
      element("button", { class: "primary" }, word),
      element("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
    ]),
  ]));
  document.body.append(dialog);
  dialog.showModal();
}
