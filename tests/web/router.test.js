import assert from "node:assert/strict";
import test from "node:test";

import { address, matched } from "../../app/web/router.js";

const VIEWS = [{ path: "try" }, { path: "models" }, { path: "models/:name/label/:label" }];

test("an address leads back to the view and parameters it was made of", () => {
  const label = "a/b ?#%20<b>é😀";
  const route = matched(VIEWS, address(["models", "demo", "label", label], { q: "x&y" }));
  assert.equal(route.view, VIEWS[2]);
  assert.deepEqual(route.parameters, { name: "demo", label });
  assert.equal(route.query.get("q"), "x&y");
});

test("an address that names no view matches none", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/models/demo", "#/try/more"]) {
    assert.equal(matched(VIEWS, hash), null);
  }
});

test("an escape that is none stays as it is", () => {
  assert.equal(matched(VIEWS, "#/models/a/label/%zz").parameters.label, "%zz");
});

test("empty values are left out of an address", () => {
  assert.equal(address(["try"], { model: "", version: null }), "#/try");
});
