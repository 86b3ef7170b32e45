/** The files that this tab has sent to be evaluated, so that their texts can be shown again. */

import { joined } from "../tables/csv.js";
import { inflated } from "../tables/encoding.js";

const MOST_BYTES = 1 << 28;

/** Files by the ids of their evaluations. */
export const ownFiles = new Map();

/** The SHA-256 of pieces of a file of this size; null where it cannot be told here. */
export async function sha256Of(bytes, size) {
  if (!globalThis.crypto?.subtle || size > MOST_BYTES) return null;
  const pieces = [];
  for await (const piece of bytes) pieces.push(piece);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", joined(pieces)));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether a file is the one with this hash; null where that cannot be told here. */
export async function isData(file, sha256) {
  const own = await sha256Of(inflated(file), file.size);
  return own && own === sha256;
}
