/** Evaluate: test sets in, what was read of them, then the evaluations; and all that were made. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { isEnded, statesOf } from "../../evaluations.js";
import { dropZone } from "../../files/drop_zone.js";
import { ownFiles } from "../../files/own_files.js";
import { columnChooser, previewTable } from "../../files/preview.js";
import { handedIn } from "../../files/upload.js";
import { modelChoice } from "../../model_choice.js";
import { plural } from "../../numbers.js";
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
  const work = stack(), past = element("div"), showPast = async () => replace(past, await history(signal));
  const [model] = await Promise.all([modelChoice({ several: true }), showPast()]);
  const onMany = (made) => {
    replace(work, soft(`${plural(made.length, "evaluation")} handed in: below, as they end.`));
    return Promise.all([showPast(), ...made.map((one) => ended(one.id, signal).then(showPast))]);
  };
  const open = async (files) => {
    const shown = opened(files[0]).then((table) => settings({ files, table, model, signal, onMany }));
    replace(work, await shown.catch(failure));
  };
  const hint = "CSV, TSV, JSON lines or JSON; several that have the same columns. You see what was read before it runs.";
  const zone = dropZone({ title: "Drop a labelled test set", hint, onFiles: open });
  return viewOf("Evaluate", model.node, [zone, work, past]);
}

/** Resolves when an evaluation has ended, however it did. */
async function ended(id, signal) {
  for await (const state of statesOf(id, signal)) if (isEnded(state)) return;
}

/** The table, or null where it is none: arrays, exports and svmlight only the service reads. */
async function opened(file) {
  const table = await openTable(file).catch((error) => {
    if (/workbook/.test(error.message)) throw error;
  });
  return table?.columns.length ? table : null;
}

function settings({ files, table, model, signal, onMany }) {
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
    ...(model.references().length > 1 ? { models: model.references().join(",") } : { model: model.reference() }),
    decision: decision.value.trim() || "tuned", unlabelled: unlabelled.value,
    bootstrap: RESAMPLES, suspects: SUSPECTS, format: table?.format, ...(hasColumns ? columns() : {}),
  });
  const title = files.length > 1 ? `${files[0].name} and ${plural(files.length - 1, "other file")}` : files[0].name;
  return card(title, [
    hasColumns && columnChooser(table.columns, texts, show), preview,
    row([
      hasColumns && field("Labels are in", labels), field("Decision", decision),
      field("Documents without labels", unlabelled),
    ], "fields"),
    actions({ files, query, found, signal, onMany }), found,
  ]);
}

/** The buttons; what is read is checked at once. */
function actions({ files, query, found, signal, onMany }) {
  const ask = (file, extra = {}) => handedIn(file, ({ query: named, body }) => fetchJson("evaluations", {
    method: "POST", body, query: { ...query(), ...named, ...extra }, signal,
  }), signal);
  const guarded = (doing, work) => async () => {
    const enable = (isOn) => buttons.forEach((one) => { one.disabled = !isOn; });
    enable(false);
    replace(found, soft(doing));
    await work().catch((error) => replace(found, failure(error)));
    enable(true);
  };
  const check = guarded("Reading …", async () => {
    const results = [];
    for (const file of files) {
      const { checks: [result] } = await ask(file, { check: true });
      results.push([files.length > 1 && element("h3", {}, file.name), checkResult(result)]);
    }
    replace(found, results);
  });
  const start = guarded("Handing in …", async () => {
    const made = [];
    for (const file of files) {
      const { evaluations } = await ask(file);
      evaluations.forEach(({ id }) => ownFiles.set(id, file));
      made.push(...evaluations);
    }
    if (made.length > 1) return void onMany(made).catch((error) => replace(found, failure(error)));
    location.hash = address(["evaluations", made[0].id]);
  });
  const buttons = [button("Evaluate", start, { class: "primary" }), button("Check again", check)];
  queueMicrotask(check);
  return row(buttons);
}
