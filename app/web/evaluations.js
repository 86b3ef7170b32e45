/** Evaluations that the service keeps: their states while they run, their reports. */

import { fetchJson, request } from "./api.js";

const SILENCE = 20_000;
const POLL = 2_000;
const EVENTS = { accept: "text/event-stream" };

/** Whether nothing more will happen to an evaluation. */
export const isEnded = ({ state }) => ["done", "failed", "cancelled"].includes(state);

/** What was judged: `NAME@VERSION`, and the decision where it is not the model's own. */
export const titleOf = ({ model, version, options: { decision } }) =>
  `${model}@${version}${decision === "tuned" ? "" : `, ${decision}`}`;

/** The report of an evaluation that is done. */
export const reportOf = (id, signal) =>
  fetchJson(`evaluations/${id}/report`, { headers: { accept: "application/json" }, signal });

/** The evaluation each time that something has changed, until it has ended. */
export async function* statesOf(id, signal) {
  for (;;) {
    try {
      for await (const { data } of events(`evaluations/${id}/events`, signal)) {
        yield data;
        if (isEnded(data)) return;
      }
    } catch (error) {
      if (signal.aborted || error.status < 500) throw error;
    } // a gateway that keeps events back, or a service that starts again: it is asked for
    const found = await fetchJson(`evaluations/${id}`, { signal });
    yield found;
    if (isEnded(found)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

async function* events(path, left) {
  const silent = new AbortController(), signal = AbortSignal.any([left, silent.signal]);
  let timer = setTimeout(() => silent.abort(), SILENCE);
  try {
    const response = await request(path, { headers: EVENTS, signal });
    const parser = new EventParser(), reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE);
      yield* parser.feed(read.value).filter(({ name }) => name !== "error");
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

/** Cuts the text of server-sent events into `{name, data}`, data being JSON. */
export class EventParser {
  rest = "";

  /** The events that are complete with this text. */
  feed(text) {
    const blocks = (this.rest + text).split(/\r?\n\r?\n/);
    this.rest = blocks.pop();
    return blocks.map(eventOf).filter(Boolean);
  }
}

function eventOf(block) {
  const values = { event: ["message"], data: [] };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (name) values[name].push(value);
  }
  return values.data.length ? { name: values.event.at(-1), data: JSON.parse(values.data.join("\n")) } : null;
}
