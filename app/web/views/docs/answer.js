/** A request that was made up in a form is sent, and its answer shown as it came. */

import { ProblemError, request } from "../../api.js";
import { element, replace } from "../../element.js";
import { count } from "../../numbers.js";
import { FORM } from "./snippets.js";

const MOST = 20_000;

/** Send `{ path, method, query, type, body }` and show the status and the answer in a place. */
export async function send({ path, method, query, type, body }, place, signal) {
  const isForm = type === FORM;
  const headers = body === undefined || isForm ? {} : { "content-type": type };
  const began = performance.now();
  try {
    const response = await request(path, { method, query, body: isForm ? formOf(body) : body, headers, signal });
    const text = await response.text();
    const took = `${response.status} ${response.statusText} · ${Math.round(performance.now() - began)} ms`;
    show(place, text.length < MOST ? took : `${took} · the beginning of ${count(text.length)} characters`, text);
  } catch (error) {
    const status = error instanceof ProblemError ? String(error.status) : "No answer";
    if (!signal.aborted) show(place, status, JSON.stringify(error.problem) ?? error.message);
  }
}

function formOf(text) {
  const data = new FormData();
  data.append("file", new Blob([text]), "test.jsonl");
  return data;
}

function show(place, status, text) {
  replace(place, [
    element("p", { class: "number" }, status),
    element("pre", { class: "answer", tabindex: "0", role: "group", "aria-label": "Answer" }, pretty(text).slice(0, MOST)),
  ]);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}
