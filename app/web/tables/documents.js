/** The documents of the user's own file, read here so that their texts need not come back. */

import { aligned, openTable, rows } from "./table_source.js";

const SEPARATORS = { tab: "\t", newline: "\n" };

/**
 * A Map of line, or id, to the document, `{line, id, text, labels}`, for those wanted: by line,
 * without one by id. `texts` and `labels` name the columns.
 */
export async function documentsAt(file, wanted, { format, texts, labels = "labels", separator = "|" } = {}) {
  const table = await openTable(file, format), names = table.columns.map((name) => name.trim());
  const lines = new Set(wanted.map((one) => one.line).filter(Boolean));
  const ids = new Set(wanted.filter((one) => !one.line).map((one) => one.id));
  const mark = table.format === "tsv" ? " " : SEPARATORS[separator] ?? separator;
  const places = (texts ?? [names[table.textColumn]]).map((name) => names.indexOf(name));
  const found = new Map();
  for await (const row of rows(table)) {
    if (!lines.has(row.line) && !ids.size) continue;
    const cells = aligned(row.fields ?? row.cells, table.columns), id = cells[names.indexOf("id")] || null;
    const text = places.map((place) => cells[place] ?? "").join("\n");
    const document = { line: row.line, id, text, labels: labelsOf(cells[names.indexOf(labels)] ?? "", mark) };
    if (lines.has(row.line)) found.set(row.line, document);
    if (ids.has(id)) found.set(id, document);
  }
  return found;
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
