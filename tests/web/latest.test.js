import assert from "node:assert/strict";
import test from "node:test";

import { latest } from "../../app/web/latest.js";

const settled = () => new Promise((resolve) => { setTimeout(resolve, 20); });

function asked(answer) {
  const seen = { questions: [], shown: [], failed: [] };
  const ask = latest({
    pause: 1,
    answer: (question, signal) => { seen.questions.push(question); return answer(question, signal); },
    show: (result) => seen.shown.push(result),
    fail: (error) => seen.failed.push(error.message),
  });
  return { ask, seen };
}

test("of questions without a pause between them only the last is asked", async () => {
  const { ask, seen } = asked(async (question) => question);
  for (const question of [1, 2, 3]) ask(question);
  await settled();
  assert.deepEqual(seen, { questions: [3], shown: [3], failed: [] });
});

test("an answer that comes late is not shown after a newer one, nor is its failure", async () => {
  const waiting = [];
  const { ask, seen } = asked((question) =>
    new Promise((resolve, reject) => { waiting.push({ question, resolve, reject }); }));
  ask.now("old");
  ask.now("failing");
  ask.now("new");
  waiting[2].resolve("new");
  waiting[0].resolve("old");
  waiting[1].reject(new Error("aborted"));
  await settled();
  assert.deepEqual([seen.shown, seen.failed], [["new"], []]);
});

test("the request of a question that is overtaken is aborted", async () => {
  const signals = [];
  const { ask } = asked(async (_, signal) => { signals.push(signal); });
  ask.now(1);
  ask.now(2);
  ask.stop();
  assert.deepEqual(signals.map((signal) => signal.aborted), [true, true]);
});
