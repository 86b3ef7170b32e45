/** A table in chunks for /predict, and their answers as rows of the table that comes back. */

import { RecordCutter, cellsOf, csvRow } from "./csv.js";
import { aligned, rows, textOf } from "./table_source.js";

const MOST_ROWS = 250;
const MOST_BYTES = 1 << 18;
const ADDED = ["labels", "probabilities", "reasons", "review"];
const UNREAD = /^not read: line (\d+): /;
const encoder = new TextEncoder();

/** Chunks of at least one row: `{rows: [{line, bytes, own}], bytes}`. */
export async function* chunks(table, texts) {
  let chunk = { rows: [], bytes: 0 };
  for await (const row of rows(table)) {
    const sent = row.bytes ? row : asCsv(row, table, texts);
    chunk.rows.push(sent);
    chunk.bytes += sent.bytes.length;
    if (chunk.rows.length < MOST_ROWS && chunk.bytes < MOST_BYTES) continue;
    yield chunk;
    chunk = { rows: [], bytes: 0 };
  }
  if (chunk.rows.length) yield chunk;
}

/** A chunk as CSV, below numbered columns: a name may hold the comma by which names are separated. */
export function bodyOf(chunk, table) {
  const header = rowBytes(table.columns.map((_, place) => columnAt(place)), table);
  return new Blob([header, ...chunk.rows.map((row) => row.bytes)], { type: "text/csv" });
}

/** What a body's column is called. */
export const columnAt = (place) => `c${place}`;

/** The rows of an answer, `{bytes, cells}`; lines are those of the file, not of the chunk. */
export function answerRows(chunk, answer, table) {
  const [, ...found] = new RecordCutter(table.delimiter).feed(answer, true);
  return found.map(({ bytes }, place) => {
    const cells = cellsOf(textOf(bytes), table.delimiter);
    const own = chunk.rows[place]?.own ?? cells.slice(0, -ADDED.length);
    const review = cells.at(-1).replace(UNREAD, (_, line) => `not read: line ${lineIn(chunk, Number(line))}: `);
    const whole = [...own, ...cells.slice(-ADDED.length, -1), review];
    return { cells: whole, bytes: rowBytes(whole, table) };
  });
}

/** The names of the added columns; one that the table has already gets another name. */
export function addedColumns(own) {
  const taken = new Set(own.map((name) => name.trim()));
  return ADDED.map((added) => {
    let name = added;
    for (let number = 1; taken.has(name); number++) name = `${added} (predicted${number > 1 ? ` ${number}` : ""})`;
    return name;
  });
}

/** A row of a table as bytes. */
export const rowBytes = (cells, { delimiter, lineEnd }) => encoder.encode(csvRow(cells, delimiter) + lineEnd);

/** A row of another format: its own cells are kept, as CSV on the way changes line ends in them. */
function asCsv({ line, fields, cells }, table, texts) {
  const { columns } = table, missing = texts.find((place) => fields?.has(columns[place]) === false);
  if (missing !== undefined) throw new Error(`Line ${line}: no field “${columns[missing]}”.`);
  if ([...(fields?.keys() ?? [])].some((key) => !columns.includes(key))) {
    throw new Error(`Line ${line}: a key that the first 1,000 documents do not have.`);
  }
  const own = aligned(fields ?? cells, columns);
  return { line, own, bytes: rowBytes(own.map((cell) => cell.replaceAll("\0", " ")), table) };
}

/** The line of the file for a line of a chunk, whose header is one line and has no blank ones. */
function lineIn(chunk, line) {
  let left = line - 2;
  for (const row of chunk.rows) {
    const count = textOf(row.bytes).split("\n").length;
    if (left < count) return row.line + left;
    left -= count;
  }
  return line;
}
