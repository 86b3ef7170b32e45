import assert from "node:assert/strict";
import test from "node:test";

import { MOST_PIECES, pieces } from "../../app/web/views/try/spans.js";

test("places count code points, also behind characters of two units", () => {
  assert.deepEqual(pieces("😀 é money 😀", [{ weight: 2, at: [[4, 9]] }]), [
    { text: "😀 é ", weight: 0 }, { text: "money", weight: 2 }, { text: " 😀", weight: 0 },
  ]);
});

test("where terms overlap their weights add up", () => {
  const reasons = [{ weight: 1, at: [[0, 10]] }, { weight: 0.5, at: [[0, 4]] }];
  assert.deepEqual(pieces("late again", reasons).map((piece) => piece.weight), [1.5, 1]);
});

test("what follows the last term has exactly no weight", () => {
  const reasons = [{ weight: 0.1, at: [[0, 1]] }, { weight: 0.2, at: [[0, 1]] }];
  assert.equal(pieces("ab", reasons).at(-1).weight, 0);
});

test("pieces together are the text, however many terms and wherever they stand", () => {
  const text = "a😀b".repeat(3000);
  const at = Array.from({ length: 4000 }, (_, place) => [2 * place, 2 * place + 1]);
  const found = pieces(text, [{ weight: 1, at }, { weight: 1, at: [[8990, 99999]] }]);
  assert.ok(found.map((piece) => piece.text).join("") === text);
  assert.ok(found.length <= MOST_PIECES + 1);
});

test("reasons without places, and no reasons at all, tint nothing", () => {
  assert.deepEqual(pieces("text", [{ neighbour: "7", weight: 1 }]), [{ text: "text", weight: 0 }]);
  assert.deepEqual(pieces("", []), []);
});
