/** Comma, semicolon or TAB separated values: rows cut out of bytes, cells, and rows written. */

const DELIMITERS = [",", ";", "\t"];
/** One character a byte, so that places in the text are places in the bytes. */
const BYTEWISE = new TextDecoder("windows-1252");

/** The delimiter that stands most often in a line outside quotes, `,` among equals. */
export function delimiterOf(line) {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = (mark) => bare.split(mark).length;
  return DELIMITERS.reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

/** The cells of one row, without its line end. */
export const cellsOf = (row, delimiter) => rowAt(row, 0, delimiter).cells;

/** One row as the service writes it, to the byte, without its line end. */
export function csvRow(cells, delimiter = ",") {
  if (cells.length === 1 && cells[0] === "") return '""';
  const isPlain = (cell) => !cell.includes(delimiter) && !/["\r\n]/.test(cell);
  return cells.map((cell) => (isPlain(cell) ? cell : `"${cell.replaceAll('"', '""')}"`)).join(delimiter);
}

/** The cells of the row that begins at a place, and the place behind its line end; -1: it goes on. */
function rowAt(text, start, delimiter) {
  const cells = [];
  for (let place = start; ; place += 1) {
    let cell = "";
    if (text[place] === '"') {
      const closing = closingQuote(text, place + 1);
      if (closing < 0) return { cells: [...cells, text.slice(place + 1)], end: -1 };
      cell = text.slice(place + 1, closing).replaceAll('""', '"');
      place = closing + 1;
    }
    const from = place;
    while (place < text.length && text[place] !== delimiter && text[place] !== "\n") place += 1;
    cells.push(cell + text.slice(from, place));
    if (text[place] !== delimiter) return { cells, end: place + 1 };
  }
}

function closingQuote(text, place) {
  let quote = text.indexOf('"', place);
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  return quote;
}

/** Cuts pieces of bytes into records: `{bytes, line}`, blank lines left out, line ends kept. */
export class RecordCutter {
  line = 1;
  rest = new Uint8Array();

  /** `delimiter`: of CSV, whose quoted cells may hold line ends; without it a record is a line. */
  constructor(delimiter = null) {
    this.delimiter = delimiter;
  }

  /** The records that are complete with this piece. */
  feed(piece, isLast) {
    const bytes = joined([this.rest, piece]), text = BYTEWISE.decode(bytes), records = [];
    let start = 0;
    for (let end; (end = this.recordEnd(text, start, isLast)) > start; start = end) {
      const record = text.slice(start, end);
      if (/[^\r\n]/.test(record)) records.push({ bytes: bytes.subarray(start, end), line: this.line });
      this.line += record.split("\n").length - 1;
    }
    this.rest = bytes.slice(start);
    return records;
  }

  recordEnd(text, start, isLast) {
    const lineEnd = () => text.indexOf("\n", start) + 1 || text.length + 1;
    const end = this.delimiter ? rowAt(text, start, this.delimiter).end : lineEnd();
    if (isLast && end < 0) throw new Error(`Line ${this.line}: a quoted field that does not end.`);
    if (end > text.length || end < 0) return isLast ? text.length : start;
    return end;
  }
}

/** Pieces of bytes as one. */
export function joined(pieces) {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let place = 0;
  for (const piece of pieces) {
    bytes.set(piece, place);
    place += piece.length;
  }
  return bytes;
}
