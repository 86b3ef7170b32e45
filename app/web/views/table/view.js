/** Table: a file in, the same rows back with their labels. */

import { request } from "../../api.js";
import { element, replace } from "../../element.js";
import { download, dropZone } from "../../files/drop_zone.js";
import { columnChooser, previewTable } from "../../files/preview.js";
import { modelChoice } from "../../model_choice.js";
import { count } from "../../numbers.js";
import { button, card, failure, field, pick, progressBar, row, select, stack, textField, viewOf } from "../../parts.js";
import { PredictedTable, predict } from "../../tables/predicted_table.js";
import { openTable } from "../../tables/table_source.js";
import { resultList } from "./result_list.js";

const REASONS = [["", "none"], ["3", "3 words a label"], ["10", "10 words a label"]];
const HEADERS = { "content-type": "text/csv" };

/** The view. */
export async function render({ signal }) {
  const model = await modelChoice(), work = stack();
  const zone = dropZone({
    title: "Drop a CSV, TSV or JSON lines file", hint: "or choose one. Excel: save it as “CSV UTF-8” first.",
    onFile: (file) => open(file, null, { work, model, signal }),
  });
  return viewOf("Label a table", model.node, [zone, work]);
}

async function open(file, format, context) {
  try {
    const table = await openTable(file, format);
    if (!table.preview.length) throw new Error("The file has no rows below a header.");
    replace(context.work, settings(table, context));
  } catch (error) {
    replace(context.work, failure(error));
  }
}

function settings(table, context) {
  let texts = [table.textColumn];
  const preview = element("div"), result = stack();
  const point = textField("tuned"), reasons = select(REASONS), separator = textField("auto");
  const query = () => ({
    model: context.model.reference(), operating_point: point.value.trim() || "tuned", explain: reasons.value || null,
    label_separator: separator.value, on_error: "skip",
  });
  const start = button("Label all rows", async () => {
    start.disabled = true;
    await run({ table, texts, query: query(), result, left: context.signal });
    start.disabled = false;
  }, { class: "primary" });
  const choose = (places) => {
    texts = places;
    start.disabled = !places.length;
    replace(preview, previewTable(table, places));
  };
  choose(texts);
  const fields = [field("Operating point", point), field("Reasons", reasons), field("Labels joined by", separator)];
  const choosers = [headerSwitch(table, context), columnChooser(table.columns, texts, choose)];
  return [card(table.file.name, [choosers, preview, row(fields, "fields"), row(start)]), result];
}

/** Whether a file with tabs has a header cannot be told: the command takes .tsv as having none. */
function headerSwitch(table, context) {
  if (table.format !== "tsv" && table.delimiter !== "\t") return null;
  const box = element("input", { type: "checkbox", checked: table.format === "csv",
    onchange: () => open(table.file, box.checked ? "csv" : "tsv", context) });
  return pick("The first row names the columns", box);
}

async function run({ table, texts, query, result, left }) {
  const cancel = new AbortController(), signal = AbortSignal.any([cancel.signal, left]);
  const answers = new PredictedTable(table), { counts } = answers;
  const list = resultList(answers, texts, query.explain), progress = progressBar("Rows labelled");
  const buttons = row(button("Cancel", () => cancel.abort()));
  replace(result, element("section", { class: "card stack" }, [progress.node, buttons, list.node]));
  const send = async (body, text_columns) => {
    const options = { method: "POST", body, headers: HEADERS, query: { ...query, text_columns }, signal };
    return new Uint8Array(await (await request("predict", options)).arrayBuffer());
  };
  const onRows = () => {
    progress.show(Math.min(counts.bytes / table.file.size, 0.99), sentence(counts));
    list.update();
  };
  try {
    await predict(answers, texts, { send, signal, onRows });
    progress.show(1, `Done: ${sentence(counts)}`);
  } catch (error) {
    progress.show(null, `${signal.aborted ? "Cancelled" : "Stopped"}: ${sentence(counts)}`);
    if (!signal.aborted) buttons.before(failure(error));
  }
  replace(buttons, counts.rows > 0 && downloadButton(answers));
}

function downloadButton(answers) {
  const name = answers.table.file.name.replace(/(\.\w+)?(\.gz)?$/, ".labelled.csv");
  const title = answers.isComplete ? "Download the table" : "Download what there is";
  return button(title, () => download(answers.blob(), name), { class: "primary" });
}

function sentence({ rows, labelled, review, unread }) {
  const parts = [`${count(rows)} rows`, `${count(labelled)} with labels`, `${count(review)} to review`];
  return [...parts, unread && `${count(unread)} of them not read or answered`].filter(Boolean).join(", ");
}
