/** The corrections file, as `labelserve train --corrections` takes it, and the command for it. */

import { csvRow } from "../tables/csv.js";

const COLUMNS = ["id", "line", "label", "kind", "probability", "data", "decision"];
const HASH_DIGITS = 12;

/** CSV with a row for each case that was decided. */
export function correctionsFile(review, sha256) {
  const data = `sha256:${sha256.slice(0, HASH_DIGITS)}`;
  const rows = review.cases
    .map((one) => ({ ...one, probability: one.probability?.toFixed(4), data, decision: review.decisionOn(one) }))
    .filter(({ decision }) => decision)
    .map((one) => csvRow(COLUMNS.map((column) => String(one[column] ?? ""))));
  return [csvRow(COLUMNS), ...rows, ""].join("\n");
}

/** The command to type; names are quoted as a shell wants it. */
export function trainCommand(data, model, corrections) {
  const [file, name, decided] = [data, model, corrections].map(shellQuoted);
  return `labelserve train ${file} --model ${name} --corrections ${decided}`;
}

/** A word of a command line that a POSIX shell reads as this very text. */
export function shellQuoted(word) {
  const isPlain = /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith("-");
  const safe = word.startsWith("-") ? `./${word}` : word;
  return isPlain ? safe : `'${safe.replaceAll("'", `'\\''`)}'`;
}
