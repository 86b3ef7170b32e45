import assert from "node:assert/strict";
import test from "node:test";
import { EventParser } from "../../app/web/evaluations.js";
import { sortedLabels } from "../../app/web/views/evaluations/sorted_labels.js";

const LABELS = [
  { label: "b", support: 3, f1: null }, { label: "A", name: "Bee", support: 9, f1: 0.5 }, { label: "c", support: 5, f1: 0.9 },
];
const names = (labels) => labels.map(({ label }) => label).join("");

test("events are the same however their text is cut", () => {
  const text = 'event: progress\ndata: {"state": "running",\ndata: "n": 1}\n\n:\n\nevent: end\r\ndata: {"state": "done"}\r\n\r\nevent: x\nda';
  const expected = [{ name: "progress", data: { state: "running", n: 1 } }, { name: "end", data: { state: "done" } }];
  for (let size = 1; size < 40; size++) {
    const parser = new EventParser(), found = [];
    for (let at = 0; at < text.length; at += size) found.push(...parser.feed(text.slice(at, at + size)));
    assert.deepEqual(found, expected);
  }
});

test("labels are sorted by any column, what is not known last", () => {
  assert.equal(names(sortedLabels(LABELS, {})), "Acb");
  assert.equal(names(sortedLabels(LABELS, { by: "f1" })), "cAb");
  assert.equal(names(sortedLabels(LABELS, { by: "f1", isRising: true })), "Acb");
  assert.equal(names(sortedLabels(LABELS, { by: "label", isRising: true })), "Abc");
});

test("labels are found by label and by name, whatever their case", () => {
  assert.equal(names(sortedLabels(LABELS, { search: " BE" })), "A");
  assert.equal(names(sortedLabels(LABELS, { search: "b" })), "Ab");
});
