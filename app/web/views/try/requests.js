/** What the view asks of the service, as bodies of POST /predict, and as commands to type. */

import { base } from "../../api.js";

export const MOST_LABELS = 200;
export const N_BELOW = 6;
const N_TERMS = 100;

/** What is asked about a text, as a person would send it. */
export function plainQuery({ text, model, point }) {
  return { documents: [text], model, ...(point ? { operating_point: point, nearest: true } : {}) };
}

/** The same with the labels below their cut, and no more labels than can be shown. */
export function labelsQuery(asked) {
  return {
    ...plainQuery(asked), operating_point: asked.point ?? "tuned", top_k: MOST_LABELS,
    below_cut: N_BELOW, ...(asked.hasAncestors ? { ancestors: true } : {}),
  };
}

/** Why one label has its score; of one that a rule assigned the decision is asked for. */
export function reasonsQuery(asked, { label, isByRule }) {
  const { documents, model, ...cut } = plainQuery(asked);
  const bound = isByRule ? { operating_point: "tuned", ...cut } : { top_k: 1 };
  return { documents, model, ...bound, labels: [label], explain: N_TERMS };
}

/** The request as a command for a shell. */
export function asCurl(query, hasKey) {
  const key = hasKey ? " \\\n  -H \"Authorization: Bearer $LABELSERVE_KEY\"" : "";
  const body = JSON.stringify(query).replaceAll("'", "'\\''");
  return `curl ${new URL("predict", base).href}${key} \\\n  -H 'Content-Type: application/json' \\\n`
    + `  -d '${body}'`;
}

/** The request as a Python program; JSON's strings are Python's, too. */
export function asPython({ documents, ...asked }, hasKey) {
  const service = base.href.replace(/\/$/, "");
  const key = hasKey ? ", os.environ[\"LABELSERVE_KEY\"]" : "";
  const named = Object.entries(asked).map(([name, value]) =>
    `, ${name}=${value === true ? "True" : JSON.stringify(value)}`);
  return `${hasKey ? "import os\n\n" : ""}import labelserve\n\n`
    + `with labelserve.Client(${JSON.stringify(service)}${key}) as client:\n`
    + `    (found,) = client.predict(${JSON.stringify(documents)}${named.join("")})\n`
    + "print(found.labels)\n";
}
