/** The objects of a JSON array, cut out of bytes that need not be there all at once. */

import { joined } from "./csv.js";

const [LINE_FEED, QUOTE, ESCAPE, OPEN, CLOSE] = [..."\n\"\\{}"].map((mark) => mark.charCodeAt(0));

/** Cuts pieces of bytes into records, `{bytes, line}`; what is no object is passed over. */
export class ObjectCutter {
  line = 1;
  held = new Uint8Array();
  scanned = 0;
  depth = 0;
  isText = false;

  /** The objects that are complete with this piece. */
  feed(piece, isLast) {
    const bytes = joined([this.held, piece]), records = [];
    let start = 0;
    for (; this.scanned < bytes.length; this.scanned++) {
      const byte = bytes[this.scanned];
      if (byte === LINE_FEED) this.line += 1;
      else if (this.isText && byte === ESCAPE) this.scanned += 1;
      else if (byte === QUOTE) this.isText = !this.isText;
      else if (byte === OPEN && !this.isText && this.depth++ === 0) [start, this.first] = [this.scanned, this.line];
      else if (byte === CLOSE && !this.isText && --this.depth === 0) {
        records.push({ bytes: bytes.subarray(start, this.scanned + 1), line: this.first });
        start = this.scanned + 1;
      }
    }
    if (isLast && this.depth > 0) throw new Error(`Line ${this.first}: an object that does not end.`);
    this.held = this.depth ? bytes.slice(start) : new Uint8Array();
    this.scanned -= bytes.length - this.held.length;
    return records;
  }
}
