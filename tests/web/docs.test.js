import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { exampleOf, fieldsOf, typeOf } from "../../app/web/views/docs/schema.js";
import { curlOf, pythonOf } from "../../app/web/views/docs/snippets.js";

const REQUEST = { method: "POST", url: "http://host/predict?a=1&b='", type: "application/json", body: '{"a": "it\'s $HOME"}' };

test("a shell hands curl exactly the address and the body", () => {
  const words = execFileSync("sh", ["-c", `printf '%s\\n' ${curlOf(REQUEST).slice("curl ".length)}`]).toString().split("\n");
  assert.equal(words[0], REQUEST.url);
  assert.ok(words.includes(REQUEST.body));
  assert.ok(!words.includes("-X"));
});

test("a verb is named where curl would take another, and the key is never written out", () => {
  assert.match(curlOf({ ...REQUEST, method: "PUT" }), /-X PUT/);
  assert.match(curlOf({ method: "GET", url: "u", hasKey: true }), /Bearer \$LABELSERVE_KEY/);
  assert.match(curlOf({ ...REQUEST, type: "multipart/form-data" }), /-F file=@test\.jsonl/);
});

test("a text that would end a string of Python is escaped", () => {
  assert.match(pythonOf(REQUEST), /content="""\{"a": "it's \$HOME"\}"""/);
  for (const body of ['"""', 'ends with "', "back\\slash"]) {
    assert.ok(pythonOf({ ...REQUEST, body }).includes(`content=${JSON.stringify(body)}`));
  }
  assert.match(pythonOf({ method: "GET", url: "u", hasKey: true }), /os\.environ/);
});

const DOCUMENT = { components: { schemas: { Version: {
  required: ["version"], properties: { version: { type: "string" }, note: { anyOf: [{ type: "string", description: "Why." }, { type: "null" }] } },
} } } };
const CONTENT = { schema: { $ref: "#/components/schemas/Version" } };

test("fields are described by their types, also where they may be null", () => {
  assert.deepEqual(fieldsOf(CONTENT.schema, DOCUMENT), [["version", "string", "", true], ["note", "string or null", "Why.", false]]);
  assert.equal(typeOf({ type: "array", items: { $ref: "#/a/Document" } }), "list of Document");
  assert.equal(typeOf({ enum: ["micro", "macro"] }), "micro or macro");
});

test("an example is the document's own, else what is required, with what is known", () => {
  assert.equal(exampleOf({ example: "a line\n" }, DOCUMENT, {}), "a line\n");
  assert.deepEqual(JSON.parse(exampleOf({ example: { top_k: 3 } }, DOCUMENT, {})), { top_k: 3 });
  assert.deepEqual(JSON.parse(exampleOf(CONTENT, DOCUMENT, { version: "v1" })), { version: "v1" });
});
