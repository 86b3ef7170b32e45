/** The table that comes back: rows are asked for in chunks, two at a time, and kept in order. */

import { addedColumns, answerRows, bodyOf, chunks, columnAt, rowBytes } from "./chunks.js";
import { RecordCutter, cellsOf, joined } from "./csv.js";
import { textOf } from "./table_source.js";

const MARK = [0xef, 0xbb, 0xbf];
const AT_ONCE = 2;
const MOST_TRIES = 8;
const LONGEST_WAIT = 10;
const SHOWN = 4;

/** Rows with their labels; grows while answers arrive. */
export class PredictedTable {
  constructor(table) {
    this.table = table;
    this.columns = [...table.columns, ...addedColumns(table.columns)];
    this.parts = [joined([new Uint8Array(table.hasMark ? MARK : []), rowBytes(this.columns, table)])];
    this.ends = [];
    this.review = []; // the numbers of the rows that a person should look at
    this.counts = { rows: 0, labelled: 0, review: 0, unread: 0, bytes: 0 };
    this.shown = new Map();
    this.isComplete = false;
  }

  add(chunk, answered) {
    for (const { cells } of answered) this.count(cells);
    this.counts.bytes += chunk.bytes;
    this.parts.push(joined(answered.map((row) => row.bytes)));
    this.ends.push(this.counts.rows);
  }

  count(cells) {
    const [labels, , , review] = cells.slice(-4);
    if (review) this.review.push(this.counts.rows);
    this.counts.rows += 1;
    this.counts.labelled += labels !== "";
    this.counts.unread += /^not (read|answered): /.test(review);
    this.counts.review += review !== "";
  }

  /** The cells of one row, for a list that shows a few at a time. */
  row(number) {
    const place = this.ends.findIndex((end) => number < end);
    const first = place ? this.ends[place - 1] : 0;
    return this.part(place)[number - first];
  }

  part(place) {
    if (!this.shown.has(place)) {
      if (this.shown.size === SHOWN) this.shown.delete(this.shown.keys().next().value);
      const { delimiter } = this.table;
      const found = new RecordCutter(delimiter).feed(this.parts[place + 1], true);
      this.shown.set(place, found.map(({ bytes }) => cellsOf(textOf(bytes), delimiter)));
    }
    return this.shown.get(place);
  }

  /** The whole as a file, equal to the byte with what `labelserve predict --output` writes. */
  blob() {
    return new Blob(this.parts, { type: "text/csv" });
  }
}

/**
 * Fills a PredictedTable; resolves when all rows are there.
 *
 * `send(body, textColumns)` gives the bytes of an answer. `onRows` is called after each chunk.
 */
export async function predict(result, textColumns, { send, signal, onRows = () => {}, wait = seconds }) {
  const { table } = result, names = textColumns.map(columnAt).join(","), asked = [];
  const settle = async () => {
    const { chunk, answer } = asked.shift();
    result.add(chunk, answerRows(chunk, await answer, table));
    onRows(result);
  };
  for await (const chunk of chunks(table, textColumns)) {
    signal.throwIfAborted();
    const answer = retried(() => send(bodyOf(chunk, table), names), signal, wait);
    answer.catch(() => {}); // said when its turn comes
    asked.push({ chunk, answer });
    if (asked.length === AT_ONCE) await settle();
  }
  while (asked.length) await settle();
  result.isComplete = true;
}

/** The answer; a service that has no room now (429, 503) is asked again, more and more seldom. */
async function retried(ask, signal, wait) {
  for (let tried = 1; ; tried++) {
    try {
      return await ask();
    } catch (error) {
      if (![429, 503].includes(error.status) || tried === MOST_TRIES) throw error;
      await wait(Math.min(error.retryAfter ?? 2 ** (tried - 2), LONGEST_WAIT));
      signal.throwIfAborted();
    }
  }
}

function seconds(count) {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}
