import assert from "node:assert/strict";
import test from "node:test";
import { Review, casesOf } from "../../app/web/review/cases.js";
import { correctionsFile, shellQuoted, trainCommand } from "../../app/web/review/corrections.js";
import { documentsAt, labelsOf } from "../../app/web/tables/documents.js";
import { ObjectCutter } from "../../app/web/tables/objects.js";
import { visibleRange } from "../../app/web/virtual_list.js";

const REPORT = {
  suspects: [
    { id: null, line: 3, label: 'a "b", c', kind: "missing", probability: 0.91234 },
    { id: "7", line: 9, label: "x", kind: "wrong", probability: 0.01 },
  ],
  worst_documents: [{ id: "7", line: 9, wrong: ["y"], missed: ["x"], right: [] }],
};

function storage() {
  const items = new Map();
  return { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => items.set(name, value) };
}

test("cases are the suspects, then the mistakes that are not among them", () => {
  const cases = casesOf(REPORT);
  assert.deepEqual(cases.map(({ label, kind, why }) => [label, kind, why]), [
    ['a "b", c', "missing", "suspect"], ["x", "wrong", "suspect"], ["y", "missing", "mistake"],
  ]);
  assert.deepEqual(casesOf({}), []);
});

test("a decision goes on to the next case, and is there after a reload", () => {
  const store = storage(), cases = casesOf(REPORT), review = new Review("1", cases, store);
  review.decide("take");
  review.move(1);
  review.decide("unsure");
  const again = new Review("1", cases, store);
  assert.deepEqual([again.at, again.decisionOn(cases[0]), again.decisionOn(cases[2])], [2, "take", "unsure"]);
  assert.ok(!again.isComplete);
  again.move(-1);
  again.decide("drop");
  assert.ok(again.isComplete);
});

test("the corrections file has the decided cases in the form of the suspects file", () => {
  const review = new Review("1", casesOf(REPORT), storage());
  review.decide("take");
  review.decide("drop");
  assert.equal(correctionsFile(review, "0123456789abcdef"), [
    "id,line,label,kind,probability,data,decision",
    ',3,"a ""b"", c",missing,0.9123,sha256:0123456789ab,take',
    "7,9,x,wrong,0.0100,sha256:0123456789ab,drop", "",
  ].join("\n"));
});

test("names in a command are what a shell reads as these names", () => {
  assert.equal(shellQuoted("it's; rm *"), "'it'\\''s; rm *'");
  assert.equal(trainCommand("-x.csv", "demo", "a b.csv"), "labelserve train './-x.csv' --model demo --corrections 'a b.csv'");
});

test("documents are found in one's own file by line, else by id", async () => {
  const csv = new File(['id,labels,body\n1,a|b,"two\nlines"\n\n2,"[""c, d""]",second\n'], "t.csv");
  const found = await documentsAt(csv, [{ line: 2 }, { line: null, id: "2" }], { texts: ["body"] });
  assert.deepEqual(found.get(2), { line: 2, id: "1", text: "two\nlines", labels: ["a", "b"] });
  assert.deepEqual(found.get("2").labels, ["c, d"]);
  const tsv = await documentsAt(new File(["x\ta b\tone\ttwo\n"], "t.tsv"), [{ line: 1 }]);
  assert.deepEqual(tsv.get(1), { line: 1, id: "x", text: "one\ttwo", labels: ["a", "b"] });
  const lines = await documentsAt(new File(['\n{"text": "t", "labels": ["a b"], "id": 5}\n'], "t.jsonl"), [{ line: 2 }]);
  assert.deepEqual(lines.get(2), { line: 2, id: "5", text: "t", labels: ["a b"] });
});

test("documents of a JSON array are found by id, else by a line that is theirs alone", async () => {
  const array = new File(['[{"id": 5, "text": "a \\"}{\\" b", "labels": ["x"]},\n  {"id": 6, "text": "c"}, 7,\n',
    '{"text": "d", "labels": ["y"]},\n{"text": "e"}, {"text": "f"}\n]'], "t.json");
  const wanted = [{ line: 1, id: "5" }, { line: 2, id: "6" }, { line: 3, id: null }, { line: 4, id: null }];
  const found = await documentsAt(array, wanted, { texts: ["text"] });
  assert.deepEqual(found.get("5"), { line: 1, id: "5", text: 'a "}{" b', labels: ["x"] });
  assert.deepEqual([found.get("6").text, found.get(3).text, found.has(4)], ["c", "d", false]);
  const tool = new File(['[{"id": 1, "data": {"text": "inside"}, "annotations": []}]'], "export.json");
  assert.equal((await documentsAt(tool, [{ line: 1, id: "1" }], { texts: ["text"] })).get("1").text, "inside");
});

test("objects are cut out of an array however its bytes are cut", () => {
  const text = '[\n{"a": "\\\\", "b": {"c": "}"}}\n, 1, {"ä": "\\""}]', bytes = new TextEncoder().encode(text);
  for (let size = 1; size <= bytes.length; size++) {
    const cutter = new ObjectCutter(), records = [];
    for (let at = 0; at < bytes.length; at += size) records.push(...cutter.feed(bytes.subarray(at, at + size), false));
    records.push(...cutter.feed(new Uint8Array(), true));
    const texts = records.map((one) => [one.line, new TextDecoder().decode(one.bytes)]);
    assert.deepEqual(texts, [[2, '{"a": "\\\\", "b": {"c": "}"}}'], [3, '{"ä": "\\""}']]);
  }
  assert.throws(() => new ObjectCutter().feed(new TextEncoder().encode('[\n{"a": 1'), true), /Line 2/);
});

test("a cell of labels is split at its separator alone", () => {
  assert.deepEqual(labelsOf(" a ;b;; c", ";"), ["a", "b", "c"]);
  assert.deepEqual(labelsOf("a, b", "none"), ["a, b"]);
});

test("the rows drawn are those in view and a few beyond, however many there are", () => {
  assert.deepEqual(visibleRange({ top: 0, height: 360, rowHeight: 36, count: 20000 }), [0, 16]);
  assert.deepEqual(visibleRange({ top: 36000, height: 360, rowHeight: 36, count: 20000 }), [994, 1016]);
  assert.deepEqual(visibleRange({ top: 36000, height: 360, rowHeight: 36, count: 3 }), [0, 3]);
});
