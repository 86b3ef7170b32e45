import assert from "node:assert/strict";
import test from "node:test";
import { addedColumns } from "../../app/web/tables/chunks.js";
import { RecordCutter, cellsOf, csvRow, delimiterOf } from "../../app/web/tables/csv.js";

const bytes = (text) => new TextEncoder().encode(text);
const text = (found) => new TextDecoder().decode(found);

function cut(data, delimiter, size) {
  const cutter = new RecordCutter(delimiter), found = [];
  for (let at = 0; at < data.length; at += size) found.push(...cutter.feed(data.subarray(at, at + size), false));
  return [...found, ...cutter.feed(new Uint8Array(), true)].map((record) => [record.line, text(record.bytes)]);
}

test("the delimiter is the one that stands most often outside quotes", () => {
  assert.equal(delimiterOf('id;"a,b,c,d";text'), ";");
  assert.equal(delimiterOf("id\ttext"), "\t");
  assert.equal(delimiterOf("text"), ",");
});

test("a quote inside a cell that is not quoted is a character", () => {
  assert.deepEqual(cut(bytes('7,5" wide\n8,"a"b\n9,x\n'), ",", 3).map(([line]) => line), [1, 2, 3]);
  assert.deepEqual(cellsOf('7,5" wide,"a"b', ","), ["7", '5" wide', "ab"]);
});

test("records are the same however the bytes are cut", () => {
  const data = bytes('id,text\r\n1,"two\nlines, ""x"""\n\n2,größe\r\n3,"€"');
  const whole = cut(data, ",", data.length);
  assert.deepEqual(whole.map(([line]) => line), [1, 2, 5, 6]);
  assert.equal(whole.map(([, row]) => row).join(""), text(data).replace("\n\n", "\n"));
  for (let size = 1; size < 12; size++) assert.deepEqual(cut(data, ",", size), whole);
});

test("a quote that never closes is told with its line", () => {
  assert.throws(() => cut(bytes('a,b\n1,"x\ny\n'), ",", 5), /^Error: Line 2: a quoted field/);
});

test("lines without a delimiter keep their quotes", () => {
  assert.deepEqual(cut(bytes('{"a": "\n{}\n'), null, 4), [[1, '{"a": "\n'], [2, "{}\n"]]);
});

test("cells are read back as they were written", () => {
  for (const cells of [["a", "b"], [""], ["", ""], ['say "no"', "x;y", "two\nlines", "\r", " "], ["'", '"']]) {
    for (const mark of [",", ";", "\t"]) assert.deepEqual(cellsOf(csvRow(cells, mark), mark), cells);
  }
  assert.equal(csvRow(["a,b", 'c"', "d"]), '"a,b","c""",d');
  assert.equal(csvRow([""]), '""');
});

test("a cell of 200 kB with a quote in it is read whole", () => {
  const cell = `${"x".repeat(100_000)}"${"\n".repeat(100_000)}`;
  assert.deepEqual(cellsOf(csvRow([cell, "1"]), ","), [cell, "1"]);
});

test("added columns step aside for the table's own", () => {
  assert.deepEqual(addedColumns(["text", " labels ", "labels (predicted)", "review"]), [
    "labels (predicted 2)", "probabilities", "reasons", "review (predicted)",
  ]);
});
