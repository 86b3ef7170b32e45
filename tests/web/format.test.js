import assert from "node:assert/strict";
import { test } from "node:test";

import { moment, size } from "../../app/web/format.js";

test("sizes are as people read them", () => {
  assert.deepEqual([0, 999, 1000, 295_900, 1.4e9].map(size), ["0 bytes", "999 bytes", "1.0 kB", "295.9 kB", "1.4 GB"]);
});

test("what is no time stays as it is", () => {
  assert.equal(moment("yesterday"), "yesterday");
  assert.match(moment("2026-11-18T06:46:35+00:00"), /2026/);
});
