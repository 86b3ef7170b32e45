/** One evaluation: its progress while it runs, then its report. */

import { fetchJson, request } from "../../api.js";
import { element, replace } from "../../element.js";
import { isEnded, reportOf, statesOf, titleOf } from "../../evaluations.js";
import { moment } from "../../format.js";
import { count } from "../../numbers.js";
import { button, failure, progressBar, row, soft, stack, viewOf } from "../../parts.js";
import { actions } from "./actions.js";
import { reportView } from "./report.js";

/** The view of `#/evaluations/ID`. */
export async function render({ parameters: { id }, signal }) {
  const first = await fetchJson(`evaluations/${id}`, { signal }), place = stack([], "wide-gap");
  const show = async (evaluation) => replace(place, evaluation.state === "done"
    ? [actions(evaluation), reportView(await reportOf(id, signal), evaluation)] : state(evaluation));
  const follow = async () => { for await (const evaluation of statesOf(id, signal)) await show(evaluation); };
  await show(first);
  if (!isEnded(first)) follow().catch((error) => { if (!signal.aborted) place.append(failure(error)); });
  const title = first.name || `Evaluation ${id.slice(0, 8)}`;
  return viewOf(title, soft(`${titleOf(first)} · ${moment(first.created)}`), place);
}

function state({ id, state: word, progress, error }) {
  if (error) return failure({ message: error.detail ?? "The evaluation failed." });
  if (word === "cancelled") return element("p", { class: "notice" }, "This evaluation was cancelled.");
  const bar = progressBar("Documents evaluated"), { documents, expected } = progress;
  bar.show(expected ? documents / expected : null, word === "queued" ? "Waiting for its turn …" : sentence(progress));
  const cancel = () => request(`evaluations/${id}`, { method: "DELETE" });
  return element("section", { class: "card stack" }, [bar.node, row(button("Cancel", cancel))]);
}

function sentence({ documents, expected, seconds_left: left }) {
  const all = expected == null ? "" : ` of ${count(expected)}`;
  return `${count(documents)}${all} documents${left == null ? "" : `, about ${count(Math.ceil(left))} s left`}`;
}
