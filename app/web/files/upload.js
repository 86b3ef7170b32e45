/** Files that are sent to the service once, and named by their hash from then on. */

import { request } from "../api.js";
import { sha256Of } from "./own_files.js";

const sent = new WeakMap();

/** The hash of a file that the service has now; null where it cannot be told here. */
export async function uploaded(file, signal) {
  if (!sent.has(file)) {
    const sha256 = await sha256Of(file.stream(), file.size);
    if (sha256) await request(`uploads/${sha256}`, { method: "PUT", body: file, signal });
    sent.set(file, sha256);
  }
  return sent.get(file);
}

/** Hand a file in as `ask({query, body})`: by its hash, or whole where there is none. */
export async function handedIn(file, ask, signal) {
  const sha256 = await uploaded(file, signal);
  if (!sha256) {
    const body = new FormData();
    body.append("file", file, file.name);
    return ask({ query: {}, body });
  }
  return ask({ query: { upload: sha256, name: file.name.slice(0, 200) } }).catch((error) => {
    if (error.slug !== "unknown-upload") throw error; // it is kept for an hour
    sent.delete(file);
    return handedIn(file, ask, signal);
  });
}
