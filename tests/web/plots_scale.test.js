import assert from "node:assert/strict";
import { test } from "node:test";

import { scale, ticks } from "../../app/web/plots/scale.js";

test("ticks are round, equally far apart and within the range", () => {
  assert.deepEqual(ticks([0, 1]), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks([-1.51, 2.24]), [-1, 0, 1, 2]);
  assert.deepEqual(ticks([0, 30000]), [0, 10000, 20000, 30000]);
  assert.deepEqual(ticks([3, 3]), [3]);
});

test("a scale takes the ends of its range to the ends of its place", () => {
  const at = scale([0, 2], [100, 0]);
  assert.deepEqual([0, 1, 2].map(at), [100, 50, 0]);
  assert.equal(scale([1, 1], [5, 9])(1), 5);
});
