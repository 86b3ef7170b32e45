/** Leaderboard: all evaluations of one data set, best first, and which cannot be told apart. */

import { fetchJson } from "../../api.js";
import { element, replace } from "../../element.js";
import { titleOf } from "../../evaluations.js";
import { moment } from "../../format.js";
import { count, decimal } from "../../numbers.js";
import { card, cellsTable, failure, field, link, select, soft, stack, viewOf } from "../../parts.js";
import { address } from "../../router.js";

const FIGURES = [
  "micro.f1", "macro_in_test.f1", "macro.f1", "micro.precision", "micro.recall", "samples.f1", "subset_accuracy",
  "P@1", "lrap", "ece",
];
const COLUMNS = ["rank", "model", "value", "95 % interval", "", "group", "made", ""];

/** The view of `#/leaderboard/SHA256`. */
export async function render({ parameters: { data }, signal }) {
  const place = stack(), figure = select(FIGURES, { onchange: () => show() });
  const show = async () => {
    const options = { query: { figure: figure.value }, signal };
    replace(place, await fetchJson(`leaderboards/${encodeURIComponent(data)}`, options).then(board, failure));
  };
  await show();
  return viewOf("Leaderboard", field("Figure", figure), place);
}

function board({ rows, left_out: leftOut }) {
  const scale = Math.max(...rows.map(({ value, interval }) => interval?.[1] ?? value ?? 0)) || 1;
  const best = rows[0].evaluation;
  const others = leftOut.map(({ evaluation, why }) =>
    element("li", {}, [link(evaluation.slice(0, 8), address(["evaluations", evaluation])), `: ${why}`]));
  return [
    card(best.name || "Evaluations", [
      cellsTable("Leaderboard", COLUMNS, rows.map((row) => cellsOf(row, best, scale))),
      soft("Rows that share a letter cannot be told apart on these documents."),
    ]),
    others.length > 0 && element("details", {}, [
      element("summary", {}, `${count(others.length)} left out`), element("ul", {}, others),
    ]),
  ];
}

function cellsOf({ rank, evaluation, value, interval, group }, best, scale) {
  const isBest = evaluation.id === best.id;
  return [
    count(rank), link(titleOf(evaluation), address(["evaluations", evaluation.id])), decimal(value),
    interval?.map(decimal).join(" – ") ?? "", bar(value ?? 0, interval, scale), group ?? "", moment(evaluation.created),
    isBest ? "" : link("compare with the best", address(["compare", best.id, evaluation.id])),
  ];
}

/** The value as a bar, its interval as a stroke across its end. */
function bar(value, interval, scale) {
  const percent = (share) => `${(100 * share) / scale}%`;
  return element("span", { class: "rank-bar", "aria-hidden": "true" }, [
    element("i", { style: { width: percent(value) } }),
    interval && element("b", { style: { left: percent(interval[0]), width: percent(interval[1] - interval[0]) } }),
  ]);
}
