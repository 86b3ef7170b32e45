import assert from "node:assert/strict";
import test from "node:test";

import { choices, nearest, operatingPoint } from "../../app/web/views/try/curve.js";

const CURVE = {
  label_cardinality: 1.5,
  points: [
    { precision: 0.9, recall: 0.1 },
    { precision: 0.9, recall: 0.5, precision_interval: [0.8, 1], recall_interval: [0.4, 0.6] },
    { precision: 0.5, recall: 0.96, precision_interval: [0.4, 0.6], recall_interval: [0.8, 1] },
  ],
};

test("a point is left out where another has more recall and no less precision", () => {
  assert.deepEqual(choices(CURVE).map((point) => point.recall), [0.5, 0.96]);
});

test("F1, its interval and the labels a text follow from precision and recall", () => {
  const [point] = choices(CURVE);
  assert.ok(Math.abs(point.f1 - 0.9 / 1.4) < 1e-12);
  assert.ok(Math.abs(point.f1_interval[0] - 0.64 / 1.2) < 1e-12);
  assert.equal(point.f1_interval[1], 1.2 / 1.6);
  assert.ok(Math.abs(point.labels - (1.5 * 0.5) / 0.9) < 1e-12);
});

test("a point is named by its recall, or by its precision where no recall is promised", () => {
  const all = choices(CURVE);
  assert.equal(operatingPoint(all[0], all), "recall>=0.500000000000");
  assert.equal(operatingPoint(all[1], all), "precision>=0.500000000000");
});

test("the nearest point is the one with the nearest recall", () => {
  assert.equal(nearest(choices(CURVE), 0.8), 1);
  assert.equal(nearest(choices(CURVE), 0), 0);
});
