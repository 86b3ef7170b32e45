/** The client of the public API: JSON in and out, errors as sentences, a key where one is needed. */

const STORED = "labelserve.key";

/** Where the service is: two folders above this file, whatever path a gateway has put before it. */
export const base = new URL("../../", import.meta.url);

/** An answer that is no success; its message is the service's own sentence. */
export class ProblemError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `The service answered with status ${status}.`);
    this.name = "ProblemError";
    this.status = status;
    this.problem = problem;
    this.slug = String(problem.type || "").split(":").pop();
  }
}

let keySource = async () => null;
let asking = null;

/** Let this function give a key where one is needed: (why) → the key, or null for none. */
export function askForKeyBy(source) {
  keySource = source;
}

/** The key of this tab, or null. */
export const key = () => globalThis.sessionStorage?.getItem(STORED) ?? null;

/** Keep a key for this tab; null forgets it. */
export function keepKey(value) {
  if (value) globalThis.sessionStorage?.setItem(STORED, value);
  else globalThis.sessionStorage?.removeItem(STORED);
}

/** The address of a path of the API; query values that are null are left out, lists repeated. */
export function addressOf(path, query = {}) {
  const address = new URL(path.replace(/^\//, ""), base);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one != null) address.searchParams.append(name, one);
  }
  return address;
}

/**
 * The response to a request, if it succeeded; a ProblemError if not. `json` is sent as JSON,
 * `query` in the address, all else is as in `fetch`. Without a valid key one is asked for.
 */
export async function request(path, { query, json, headers = {}, ...options } = {}) {
  const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
  const type = json === undefined ? {} : { "content-type": "application/json" };
  for (;;) {
    const sent = key();
    const authorization = sent ? { authorization: `Bearer ${sent}` } : {};
    const response = await fetch(addressOf(path, query), {
      ...body, ...options, headers: { ...type, ...authorization, ...headers },
    }).catch(unreachable);
    if (response.ok) return response;
    const error = await problemOf(response);
    if (response.status !== 401 || !(await hasNewKey(sent, error.message))) throw error;
  }
}

/** The JSON of the answer to a request: see `request`. */
export async function fetchJson(path, options) {
  return (await request(path, options)).json();
}

/** A response's problem as an error; what is no problem document is told by its status. */
export async function problemOf(response) {
  return new ProblemError(response.status, await response.json().catch(() => ({})));
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new Error("The service cannot be reached. Is it running?");
}

/** Whether there is a key now that was not sent yet; several requests ask for it once. */
async function hasNewKey(sent, why) {
  if (key() !== sent) return true;
  asking ??= keySource(sent ? why : "").finally(() => { asking = null; });
  const given = await asking;
  if (given) keepKey(given);
  return Boolean(given);
}
