/** The documents of the user's own file, read here so that their texts need not come back. */

import { headOf } from "./encoding.js";
import { jsonFields } from "./json_fields.js";
import { openTable, rows, textOf } from "./table_source.js";

const SEPARATORS = { tab: "\t", newline: "\n" };

/**
 * A Map of line, or id, to the document, `{line, id, text, labels}`, for those wanted: by line,
 * without one by id. Objects of a JSON array may share a line: they are found by id where they have
 * one, else by a line of their own. `texts` and `labels` name the columns.
 */
export async function documentsAt(file, wanted, { format, texts, labels = "labels", separator = "|" } = {}) {
  const isArray = textOf(await headOf(file)).trimStart().startsWith("[");
  const table = await openTable(file, isArray ? "json" : format), names = table.columns.map((name) => name.trim());
  const isById = (one) => Boolean(one.id) && (isArray || !one.line);
  const lines = new Set(wanted.filter((one) => !isById(one)).map((one) => one.line));
  const ids = new Set(wanted.filter(isById).map((one) => one.id));
  const mark = table.format === "tsv" ? " " : SEPARATORS[separator] ?? separator;
  const found = new Map(), shared = new Set();
  for await (const row of rows(table)) {
    if (!lines.has(row.line) && !ids.size) continue;
    const fields = row.fields && withInner(row.fields);
    const cell = (name) => (fields ? fields.get(name) : row.cells[names.indexOf(name)]) ?? "";
    const text = (texts ?? [names[table.textColumn]]).map(cell).join("\n");
    const document = { line: row.line, id: cell("id") || null, text, labels: labelsOf(cell(labels), mark) };
    if (found.has(row.line)) shared.add(row.line);
    if (lines.has(row.line)) found.set(row.line, document);
    if (ids.has(document.id)) found.set(document.id, document);
  }
  for (const line of shared) found.delete(line);
  return found;
}

/** The fields of an object, with those of its document where a labelling tool has it inside. */
function withInner(fields) {
  const inner = fields.get("data") ?? fields.get("fields");
  return inner?.startsWith("{") ? new Map([...fields, ...jsonFields(inner)]) : fields;
}

/** The labels of a cell: a JSON list, else names between separators. */
export function labelsOf(cell, separator) {
  try {
    const list = JSON.parse(cell);
    if (Array.isArray(list)) return list.map(String);
  } catch { /* names, or a list as Python prints it, which stays as it is */ }
  const names = separator === "none" || separator === "list" ? [cell] : cell.split(separator);
  return names.map((name) => name.trim()).filter(Boolean);
}
