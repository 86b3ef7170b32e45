import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { encodingOf } from "../../app/web/tables/encoding.js";
import { jsonFields, pythonNumber } from "../../app/web/tables/json_fields.js";
import { PredictedTable, predict } from "../../app/web/tables/predicted_table.js";
import { formatOf, openTable } from "../../app/web/tables/table_source.js";

const file = (content, name = "a.csv") => new File([content], name);

function utf16(text, order) {
  const bytes = Buffer.from(text, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

/** Answers as /predict does: the row it was sent, then the row's number and nothing to review. */
function echo(sent = []) {
  return async (body) => {
    const text = await body.text();
    sent.push(text);
    const [header, ...rows] = text.split("\n").filter(Boolean);
    const mark = header.includes(";") ? ";" : ",";
    const answered = rows.map((row) => [row, "l", "0.5", "", ""].join(mark));
    return new TextEncoder().encode([header, ...answered, ""].join("\n"));
  };
}

async function predicted(dropped, send, options = {}) {
  const table = await openTable(dropped);
  const result = new PredictedTable(table);
  const signal = options.signal ?? new AbortController().signal;
  await predict(result, [table.textColumn], { send, signal, ...options });
  return result;
}

const bytesOf = async (result) => Buffer.from(await result.blob().arrayBuffer()).toString();

test("the format is told by the suffix, else by the first line", () => {
  assert.deepEqual(["a.CSV", "a.txt", "a.jsonl.gz"].map((name) => formatOf(name, "")), ["csv", "tsv", "jsonl"]);
  assert.deepEqual([formatOf("a", '{"a"'), formatOf("a", "a\tb"), formatOf("a", "a;b")], ["jsonl", "tsv", "csv"]);
});

test("UTF-16 is known by its mark, or by the zeros of its ASCII characters", () => {
  assert.equal(encodingOf(utf16("name;städte", "le")).name, "utf-16le");
  assert.equal(encodingOf(utf16("name;städte", "be")).name, "utf-16be");
  assert.deepEqual(encodingOf(Buffer.from("\ufeffa")), { name: "utf-8", mark: 3 });
});

test("a table has the same rows in every encoding, and gzipped", async () => {
  const text = "no;text\r\n1;größe\r\n2;\"a\nb\"\r\n";
  const forms = [text, `\ufeff${text}`, utf16(text, "le"), utf16(`\ufeff${text}`, "be"), gzipSync(text)];
  for (const content of forms) {
    const table = await openTable(file(content));
    assert.deepEqual(table.columns, ["no", "text"]);
    assert.deepEqual(table.preview, [["1", "größe"], ["2", "a\nb"]]);
    assert.deepEqual([table.delimiter, table.lineEnd, table.textColumn], [";", "\r\n", 1]);
  }
  assert.ok((await openTable(file(forms[2]))).hasMark && !(await openTable(file(text))).hasMark);
});

test("a workbook is refused with what to do", async () => {
  await assert.rejects(openTable(file(Buffer.from("PK\x03\x04...."), "a.xlsx")), /CSV UTF-8/);
});

test("rows come back in order, below their own columns and the added ones", async () => {
  const rows = Array.from({ length: 1200 }, (_, number) => `${number};text ${number}\n`);
  const sent = [];
  const result = await predicted(file(`\ufeffno;"a,b"\n${rows.join("")}`), echo(sent));
  const expected = rows.map((row) => row.replace("\n", ";l;0.5;;\n")).join("");
  assert.equal(await bytesOf(result), `\ufeffno;a,b;labels;probabilities;reasons;review\n${expected}`);
  assert.ok(sent.length > 4 && sent.every((body) => body.startsWith("c0;c1\n")));
  assert.deepEqual(result.row(777), ["777", "text 777", "l", "0.5", "", ""]);
  assert.deepEqual([result.counts.rows, result.counts.review, result.isComplete], [1200, 0, true]);
});

test("an unread row names the line of the file, not of the chunk", async () => {
  const lines = Array.from({ length: 600 }, (_, number) => `${number},"a\nb"\n`).join("");
  const send = async (body) => {
    const [header, ...rest] = (await body.text()).split("\n").filter(Boolean);
    const rows = rest.filter((_, place) => place % 2).map((_, place) => `,,,,,not read: line ${2 * place + 2}: x\n`);
    return new TextEncoder().encode(`${header},labels,probabilities,reasons,review\n${rows.join("")}`);
  };
  const result = await predicted(file(`no,text\n\n${lines}`), send);
  assert.equal(result.row(0).at(-1), "not read: line 3: x");
  assert.equal(result.row(599).at(-1), `not read: line ${3 + 2 * 599}: x`);
  assert.equal(result.counts.unread, 600);
});

test("JSON lines come back as a table of their keys, with values as the command writes them", async () => {
  const lines = ['{"2": 1.0, "text": "a, b", "1": [true, null, {"x": 1e-7}]}', "", '{"text": "=c", "2": null}'];
  const result = await predicted(file(lines.join("\n"), "a.jsonl"), echo());
  assert.equal(await result.blob().text(), [
    "2,text,1,labels,probabilities,reasons,review",
    '1.0,"a, b","[true, null, {""x"": 1e-07}]",l,0.5,,',
    ",=c,,l,0.5,,", "",
  ].join("\n"));
});

test("a key that comes later for the first time is refused with its line", async () => {
  const lines = Array.from({ length: 1001 }, () => '{"text": "a"}\n').join("");
  await assert.rejects(predicted(file(`${lines}{"text": "a", "b": 1}`, "a.jsonl"), echo()), /Line 1002/);
  const table = await openTable(file(`${lines}{"text"`, "a.jsonl")), result = new PredictedTable(table);
  await assert.rejects(predict(result, [0], { send: echo(), signal: new AbortController().signal }), /Line 1002: not a JSON/);
  assert.ok(!result.isComplete);
});

test("numbers are printed as Python prints them", () => {
  const printed = { "1": "1", "-0": "0", "1.0": "1.0", "1e5": "100000.0", "1e16": "1e+16", "123456789012345678": "123456789012345678", "1.5e-5": "1.5e-05", "0.0001": "0.0001", "-0.0": "-0.0", "1E22": "1e+22" };
  for (const [token, text] of Object.entries(printed)) assert.equal(pythonNumber(token), text);
  assert.deepEqual([...jsonFields('{"a": "\\u00e9\\"", "b": "null", "a": {}}')], [["a", "{}"], ["b", "null"]]);
});

test("a service without room is asked again, another fault ends it", async () => {
  let calls = 0;
  const answer = echo();
  const busy = (status) => async (body) => {
    if (calls++ < 2) throw Object.assign(new Error("no room"), { status });
    return answer(body);
  };
  const waits = [];
  const wait = async (seconds) => waits.push(seconds);
  assert.equal((await predicted(file("text\na\n"), busy(429), { wait })).counts.rows, 1);
  assert.deepEqual(waits, [0.5, 1]);
  calls = 0;
  await assert.rejects(predicted(file("text\na\n"), busy(422), { wait }), /no room/);
});

test("after a cancel the rows that came are there, and no more are asked for", async () => {
  const cancel = new AbortController();
  const rows = Array.from({ length: 5000 }, () => "a\n").join("");
  const sent = [], table = await openTable(file(`text\n${rows}`)), result = new PredictedTable(table);
  const running = predict(result, [0], { send: echo(sent), signal: cancel.signal, onRows: () => cancel.abort() });
  await assert.rejects(running, { name: "AbortError" });
  assert.ok(result.counts.rows > 0 && sent.length <= 3 && !result.isComplete);
});
