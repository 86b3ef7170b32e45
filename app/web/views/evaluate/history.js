/** All evaluations that are kept, the newest first, a page at a time. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { titleOf } from "../../evaluations.js";
import { moment } from "../../format.js";
import { decimal } from "../../numbers.js";
import { button, card, cellsTable, link, row, soft } from "../../parts.js";
import { address } from "../../router.js";

const COLUMNS = ["", "file", "model", "micro-F1", "made", "note"];

/** The card; two of the same data can be chosen to be compared. */
export async function history(signal) {
  const all = [], chosen = new Set(), table = element("div");
  const more = button("Show older ones", () => load(more.value), { class: "quiet" });
  const compare = button("Compare", () => {
    location.hash = address(["compare", ...[...chosen].map(({ id }) => id)]);
  }, { disabled: true });
  const choose = (one, isChosen) => {
    chosen[isChosen ? "add" : "delete"](one);
    const [first, second] = chosen;
    compare.disabled = chosen.size !== 2 || first.data !== second.data;
  };
  const load = async (cursor) => {
    const page = await fetchJson("evaluations", { query: { cursor }, signal });
    all.push(...page.evaluations);
    replace(table, cellsTable("Evaluations", COLUMNS, all.map((one) => cellsOf(one, chosen, choose))));
    more.hidden = !page.cursor;
    more.value = page.cursor;
  };
  await load(null);
  if (!all.length) return soft("Nothing was evaluated yet.");
  return card("Evaluations", [table, row(more)], row([soft("Choose two of the same data"), compare]));
}

function cellsOf(one, chosen, choose) {
  const name = one.name || one.id.slice(0, 8), isDone = one.state === "done";
  const box = element("input", {
    type: "checkbox", "aria-label": `Compare ${name} by ${titleOf(one)}`, disabled: !isDone,
    checked: chosen.has(one), onchange: () => choose(one, box.checked),
  });
  return [
    box, link(name, address(["evaluations", one.id])), titleOf(one),
    isDone ? decimal(one.figures?.["micro.f1"]) : one.state, moment(one.created), `${one.pinned ? "📌 " : ""}${one.note}`,
  ];
}
