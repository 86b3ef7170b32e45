import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";

import { asCurl, asPython, plainQuery, reasonsQuery } from "../../app/web/views/try/requests.js";

const ASKED = { text: "it's \"q\" $HOME `x` \\n\n😀", model: "demo", point: "recall>=0.9" };

test("a shell hands curl the very body, whatever stands in the text", () => {
  const command = asCurl(plainQuery(ASKED), true).replace(/^curl/, "printf '%s\\n'");
  const words = execFileSync("sh", ["-c", command], { env: { LABELSERVE_KEY: "k" } });
  const body = JSON.parse(words.toString().split("\n-d\n")[1]);
  assert.deepEqual(body, plainQuery(ASKED));
});

test("the Python program asks the same, and the key comes from the environment", () => {
  const program = asPython(plainQuery(ASKED), true);
  assert.match(program, /os\.environ\["LABELSERVE_KEY"\]/);
  assert.match(program, /model="demo", operating_point="recall>=0.9", nearest=True/);
  assert.doesNotMatch(asPython(plainQuery(ASKED), false), /environ/);
});

test("reasons are asked for without a cut, but for what a rule assigned", () => {
  assert.deepEqual(reasonsQuery(ASKED, { label: "a" }), {
    documents: [ASKED.text], model: "demo", top_k: 1, labels: ["a"], explain: 100,
  });
  assert.equal(reasonsQuery(ASKED, { label: "a", isByRule: true }).operating_point, "recall>=0.9");
  const own = reasonsQuery({ ...ASKED, point: null }, { label: "a", isByRule: true });
  assert.equal(own.operating_point, "tuned");
});
