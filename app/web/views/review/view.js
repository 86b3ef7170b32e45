/** Review: labels that are probably wrong, one by one, with the text from the user's own file. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { reportOf, titleOf } from "../../evaluations.js";
import { dropZone } from "../../files/drop_zone.js";
import { isData, ownFiles } from "../../files/own_files.js";
import { moment } from "../../format.js";
import { card, failure, link, stack, viewOf, warnings } from "../../parts.js";
import { Review, casesOf } from "../../review/cases.js";
import { address } from "../../router.js";
import { documentsAt } from "../../tables/documents.js";
import { desk } from "./desk.js";

const OTHER_FILE = "This is not the file that was evaluated: the texts may be those of other documents.";
const NOTHING = "No label of this file is suspect, and no document went wrong.";

/** The view; `#/review?evaluation=ID` is about one evaluation, without it one is chosen. */
export async function render({ query, signal }) {
  const id = query.get("evaluation");
  return viewOf("Review labels", null, id ? await review(id, signal) : await choice(signal));
}

async function choice(signal) {
  const { evaluations } = await fetchJson("evaluations", { query: { state: "done" }, signal });
  const items = evaluations.map((one) => element("li", {}, [
    link(one.name || one.id, address(["review"], { evaluation: one.id })), ` ${titleOf(one)}, ${moment(one.created)}`,
  ]));
  if (items.length) return card("Which file?", element("ul", { class: "stack" }, items));
  return card("Nothing was evaluated yet", link("Evaluate a file first", "#/evaluate"));
}

async function review(id, signal) {
  const [evaluation, report] = await Promise.all([fetchJson(`evaluations/${id}`, { signal }), reportOf(id, signal)]);
  const cases = casesOf(report), place = stack();
  if (!cases.length) return element("p", { class: "notice" }, NOTHING);
  const open = async (file) => {
    try {
      const documents = await documentsAt(file, cases, readingOptions(evaluation, report));
      const known = cases.filter((one) => documents.has(one.line) || documents.has(one.id));
      if (!known.length) throw new Error("No document of the evaluation is in this file.");
      ownFiles.set(id, file);
      const isOther = (await isData(file, report.data.sha256)) === false;
      const decisions = new Review(id, known, sessionStorage);
      replace(place, [warnings(isOther ? [OTHER_FILE] : []), desk({ evaluation, report, documents, review: decisions, signal })]);
    } catch (error) {
      replace(place, [zone, failure(error)]);
    }
  };
  const zone = dropZone({
    title: `Drop ${evaluation.name || "the file that was evaluated"}`, onFile: open,
    hint: "The service shows no text: it is read here, and does not leave the browser.",
  });
  replace(place, zone);
  if (ownFiles.has(id)) await open(ownFiles.get(id));
  return place;
}

function readingOptions({ options: { format, text_columns: texts, label_column: labels } }, { data }) {
  return { format: format === "auto" ? null : format, texts, labels, separator: data.label_separator || "|" };
}
