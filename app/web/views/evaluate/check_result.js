/** What the service read of a test set, before anything is evaluated. */

import { element } from "../../element.js";
import { count } from "../../numbers.js";
import { counts, warnings } from "../../parts.js";

const SEEN = " documents were in the training data: the figures would be too good";
const NO_LABELS = "No document has a label: there is nothing to compare with. Is it another column?";

/** The counts, the warnings, and the first labels that the model does not know. */
export function checkResult(check) {
  const seen = Math.max(0, ...Object.values(check.seen_in_training)); // of the model that knows most of them
  const rows = {
    documents: check.documents, "with labels": check.labelled, labels: check.labels,
    "unknown labels": check.n_unknown_labels, repeated: check.duplicates, "trained on": seen, "not readable": check.skipped,
  };
  const sentences = [...check.warnings, seen && count(seen) + SEEN, !check.labelled && NO_LABELS].filter(Boolean);
  const unknown = check.unknown_labels.map((label) => element("span", { class: "chip" }, label));
  return [
    counts(Object.entries(rows).map(([name, value]) => [name, count(value)])),
    warnings(sentences),
    unknown.length > 0 && element("p", {}, ["Not known to the model: ", unknown]),
  ];
}
