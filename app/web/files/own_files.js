/** The files that this tab has sent to be evaluated, so that their texts can be shown again. */

import { joined } from "../tables/csv.js";
import { inflated } from "../tables/encoding.js";

const MOST_BYTES = 1 << 28;

/** Files by the ids of their evaluations. */
export const ownFiles = new Map();

/** Whether a file is the one with this hash; null where that cannot be told here. */
export async function isData(file, sha256) {
  if (!globalThis.crypto?.subtle || file.size > MOST_BYTES) return null;
  const pieces = [];
  for await (const piece of inflated(file)) pieces.push(piece);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", joined(pieces)));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === sha256;
}
