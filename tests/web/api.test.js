import assert from "node:assert/strict";
import test from "node:test";

import { addressOf, askForKeyBy, base, fetchJson, ProblemError } from "../../app/web/api.js";

const answer = (status, body) =>
  new Response(body === undefined ? "no JSON" : JSON.stringify(body), { status });

function serve(...answers) {
  const sent = [];
  globalThis.fetch = async (url, options) => {
    sent.push({ url: url.href.replace(base.href, "/"), ...options });
    return answers.shift();
  };
  return sent;
}

function storage() {
  const kept = new Map();
  globalThis.sessionStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  };
}

test("addresses lie below the service's own path, with lists repeated and nulls left out", () => {
  const address = addressOf("/models/a%2Fb", { q: "x y", model: null, k: [1, 2] });
  assert.equal(address.href.replace(base.href, "/"), "/models/a%2Fb?q=x+y&k=1&k=2");
});

test("a problem becomes an error with the service's sentence", async () => {
  serve(answer(422, { type: "urn:labelserve:error:unattainable", detail: "too high" }));
  await assert.rejects(fetchJson("/predict", { json: {} }), (error) =>
    error instanceof ProblemError && error.message === "too high"
      && error.slug === "unattainable" && error.status === 422);
});

test("an answer of a gateway without JSON is told by its status", async () => {
  serve(answer(502));
  await assert.rejects(fetchJson("/models"), /status 502/);
});

test("several requests ask for a key once, and are sent again with it", async () => {
  storage();
  let asked = 0;
  askForKeyBy(async () => { asked += 1; return "secret"; });
  const sent = serve(answer(401, {}), answer(401, {}), answer(200, 1), answer(200, 2));
  assert.deepEqual(await Promise.all([fetchJson("/a"), fetchJson("/b")]), [1, 2]);
  assert.equal(asked, 1);
  assert.deepEqual(sent.map((one) => one.headers.authorization),
    [undefined, undefined, "Bearer secret", "Bearer secret"]);
});

test("who gives no key gets the error", async () => {
  storage();
  askForKeyBy(async () => null);
  serve(answer(401, { detail: "no valid key" }));
  await assert.rejects(fetchJson("/a"), /no valid key/);
});
