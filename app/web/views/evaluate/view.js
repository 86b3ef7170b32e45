/** Evaluate: a test set in, what was read of it, then the evaluation; and all that were made. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { dropZone } from "../../files/drop_zone.js";
import { ownFiles } from "../../files/own_files.js";
import { columnChooser, previewTable } from "../../files/preview.js";
import { modelChoice } from "../../model_choice.js";
import { button, card, failure, field, row, select, soft, stack, textField, viewOf } from "../../parts.js";
import { address } from "../../router.js";
import { openTable } from "../../tables/table_source.js";
import { checkResult } from "./check_result.js";
import { history } from "./history.js";

const RESAMPLES = 300;
const SUSPECTS = 300;
const LABEL_NAMES = /^(labels?|tags?|category|categories|topics?|class|classes)$/i;

/** The view. */
export async function render({ signal }) {
  const [model, past] = await Promise.all([modelChoice(), history(signal)]), work = stack();
  const open = async (file) => {
    const shown = opened(file).then((table) => settings(file, table, model, signal));
    replace(work, await shown.catch(failure));
  };
  const hint = "CSV, TSV, JSON lines or JSON. You see what was read before it runs.";
  const zone = dropZone({ title: "Drop a labelled test set", hint, onFile: open });
  return viewOf("Evaluate", model.node, [zone, work, past]);
}

/** The table, or null where it is none: arrays, exports and svmlight only the service reads. */
async function opened(file) {
  const table = await openTable(file).catch((error) => {
    if (/workbook/.test(error.message)) throw error;
  });
  return table?.columns.length ? table : null;
}

function settings(file, table, model, signal) {
  const names = table?.columns.map((name) => name.trim()) ?? [], hasColumns = table && table.format !== "tsv";
  let texts = table ? [table.textColumn] : [];
  const preview = element("div"), found = element("div", { class: "stack", "aria-live": "polite" });
  const decision = textField("tuned"), unlabelled = select(["keep", "drop"]);
  const labels = select(names, { onchange: () => show() });
  labels.value = names.find((name) => LABEL_NAMES.test(name)) ?? names.at(-1);
  const show = (places = texts) => {
    texts = places;
    if (table) replace(preview, previewTable(table, hasColumns ? [...texts, names.indexOf(labels.value)] : []));
  };
  show();
  const columns = () => ({ text_columns: texts.map((place) => names[place]).join(","), label_column: labels.value });
  const query = () => ({
    model: model.reference(), decision: decision.value.trim() || "tuned", unlabelled: unlabelled.value,
    bootstrap: RESAMPLES, suspects: SUSPECTS, format: table?.format, ...(hasColumns ? columns() : {}),
  });
  return card(file.name, [
    hasColumns && columnChooser(table.columns, texts, show), preview,
    row([
      hasColumns && field("Labels are in", labels), field("Decision", decision),
      field("Documents without labels", unlabelled),
    ], "fields"),
    actions({ file, query, found, signal }), found,
  ]);
}

/** The buttons; what is read is checked at once. */
function actions({ file, query, found, signal }) {
  const ask = (extra) => {
    const body = new FormData();
    body.append("file", file, file.name);
    return fetchJson("evaluations", { method: "POST", body, query: { ...query(), ...extra }, signal });
  };
  const guarded = (doing, work) => async () => {
    const enable = (isOn) => buttons.forEach((one) => { one.disabled = !isOn; });
    enable(false);
    replace(found, soft(doing));
    await work().catch((error) => replace(found, failure(error)));
    enable(true);
  };
  const check = guarded("Reading the file …", async () => {
    const { checks: [result] } = await ask({ check: true });
    replace(found, checkResult(result));
  });
  const start = guarded("Sending the file …", async () => {
    const { evaluations: [{ id }] } = await ask();
    ownFiles.set(id, file);
    location.hash = address(["evaluations", id]);
  });
  const buttons = [button("Evaluate", start, { class: "primary" }), button("Check again", check)];
  queueMicrotask(check);
  return row(buttons);
}
