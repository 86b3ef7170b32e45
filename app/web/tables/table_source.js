/** A dropped file as a table: its columns, the form of its text, and its rows one by one. */

import { RecordCutter, cellsOf, delimiterOf } from "./csv.js";
import { encodingOf, headOf, utf8Pieces } from "./encoding.js";
import { jsonFields } from "./json_fields.js";
import { ObjectCutter } from "./objects.js";

const FORMATS = { txt: "tsv", tsv: "tsv", jsonl: "jsonl", ndjson: "jsonl", csv: "csv" };
const READERS = { csv: csvReader, tsv: tsvReader, jsonl: jsonReader, json: jsonReader };
const LOOKED_AT = 1000;
const PREVIEWED = 5;
const TEXT_NAMES = /^(text|body|content|message|description|title|abstract|comment)s?$/i;

/** The format by the file's suffix, as the command takes it; else by its first line. */
export function formatOf(name, firstLine) {
  const suffix = name.toLowerCase().replace(/\.gz$/, "").split(".").pop();
  if (Object.hasOwn(FORMATS, suffix)) return FORMATS[suffix];
  if (/^\s*[{[]/.test(firstLine)) return "jsonl";
  return firstLine.includes("\t") ? "tsv" : "csv";
}

/** The file as a table; `format` in place of what its name says. */
export async function openTable(file, format = null) {
  const head = await headOf(file), { name, mark } = encodingOf(head);
  const text = new TextDecoder(name).decode(head.subarray(mark)).replace(/^[\r\n]+/, ""), [line] = text.split("\n", 1);
  const table = { file, format: format ?? formatOf(file.name, line), delimiter: ",", lineEnd: "\n", hasMark: false };
  if (table.format === "csv") {
    table.delimiter = delimiterOf(line);
    table.lineEnd = text.includes("\n") && line.endsWith("\r") ? "\r\n" : "\n";
    table.hasMark = mark > 0 || name !== "utf-8";
    for await (const { bytes } of records(table)) {
      table.columns = cellsOf(textOf(bytes), table.delimiter);
      break;
    }
  }
  return withPreview(table);
}

async function withPreview(table) {
  const looked = [];
  for await (const { fields, cells } of rows(table)) {
    looked.push(fields ?? cells);
    if (looked.length === (fields ? LOOKED_AT : PREVIEWED)) break;
  }
  if (table.format.startsWith("json")) table.columns = [...new Set(looked.flatMap((fields) => [...fields.keys()]))];
  if (table.format === "tsv") table.columns = ["id", "labels", "text"].slice(-(looked[0]?.length ?? 3));
  table.columns ??= [];
  table.preview = looked.slice(0, PREVIEWED).map((row) => aligned(row, table.columns));
  table.textColumn = likelyText(table);
  return table;
}

/** Every row: `{line, bytes, cells}` of CSV, `{line, cells}` of TSV, `{line, fields}` of JSON lines. */
export async function* rows(table) {
  const read = READERS[table.format](table);
  for await (const { bytes, line } of records(table)) {
    const row = read(bytes, line);
    if (row) yield row;
  }
}

/** The cells of a row below the table's columns; what a document does not have is empty. */
export const aligned = (row, columns) => (Array.isArray(row) ? row : columns.map((column) => row.get(column) ?? ""));

/** The text of a record without its line end. */
export const textOf = (bytes) => new TextDecoder().decode(bytes).replace(/\r?\n$/, "");

async function* records(table) {
  const delimiter = table.format === "csv" ? table.delimiter : null;
  const cutter = table.format === "json" ? new ObjectCutter() : new RecordCutter(delimiter);
  for await (const piece of utf8Pieces(table.file)) yield* cutter.feed(piece, false);
  yield* cutter.feed(new Uint8Array(), true);
}

function csvReader({ delimiter }) {
  let isHeader = true;
  return (bytes, line) => {
    if (isHeader) return (isHeader = false);
    return { bytes, line, get cells() { return cellsOf(textOf(bytes), delimiter); } };
  };
}

/** The first line with a TAB fixes whether there is an id; later tabs belong to the text. */
function tsvReader() {
  let tabs = 0;
  return (bytes, line) => {
    const parts = strictText(bytes, line).split("\t");
    if (!parts.join("").trim()) return null;
    tabs ||= Math.min(parts.length - 1, 2);
    if (!tabs || parts.length <= tabs) throw new Error(`Line ${line}: fewer tabs than “[id TAB] labels TAB text” has.`);
    return { line, cells: [...parts.slice(0, tabs), parts.slice(tabs).join("\t")] };
  };
}

function jsonReader() {
  return (bytes, line) => {
    const text = strictText(bytes, line);
    try {
      return text.trim() ? { line, fields: jsonFields(text) } : null;
    } catch {
      throw new Error(`Line ${line}: not a JSON object.`);
    }
  };
}

function strictText(bytes, line) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw new Error(`Line ${line}: not UTF-8 text.`);
  }
}

/** The column that is called like a text, else the one with the longest cells. */
function likelyText({ columns, preview }) {
  const called = columns.findIndex((name) => TEXT_NAMES.test(name.trim()));
  const lengths = columns.map((_, place) => preview.reduce((sum, row) => sum + (row[place]?.length ?? 0), 0));
  return called >= 0 ? called : Math.max(0, lengths.indexOf(Math.max(...lengths)));
}
