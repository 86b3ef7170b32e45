/** The plots of a report. */

import { decimal, percent } from "../../numbers.js";
import { card, soft } from "../../parts.js";
import { plot } from "../../plots/plot.js";
import { reliabilityPlot } from "../../plots/reliability.js";

const axis = (label) => ({ label, range: [0, 1] });

/** The best precision over recall on this data, and where the decision stands. */
export function curvesCard({ curves: { micro, macro }, decisions: { micro: { precision, recall } } }) {
  const line = (points, kind) => ({ kind, points: points.map((point) => [point.recall, point.precision]) });
  const said = `the decision: precision ${decimal(precision)}, recall ${decimal(recall)}`;
  const chosen = precision == null ? [] : [{ x: recall, y: precision, radius: 6, kind: "chosen", title: said }];
  const drawn = plot({
    title: `The best precision over recall, by micro and macro average; ${said}.`,
    x: axis("recall"), y: axis("precision"), lines: [line(macro, "faint"), line(micro)], dots: chosen,
  });
  return card("Precision and recall", [
    drawn, soft("Line: micro, dashed: macro, both the best that cuts could reach here. Dot: the decision."),
  ]);
}

/** How many pairs are true beside how probable they were said to be; nothing without calibration. */
export function calibrationCard({ bins, ece }) {
  if (!bins.length) return null;
  return card("Calibration", [reliabilityPlot(bins), soft(`Mean difference ${decimal(ece)}.`)]);
}

/** How many assignments are wrong among the most probable ones; nothing without calibration. */
export function riskCard(points) {
  if (!points?.length) return null;
  const said = ({ coverage, risk, min_probability: least }) =>
    `${percent(coverage)} kept, from probability ${decimal(least)} on: ${percent(risk)} are wrong`;
  const most = Math.max(5, ...points.map(({ risk }) => 100 * risk));
  const drawn = plot({
    title: `Share of assignments that are wrong by share kept; ${said(points.at(-1))}.`,
    x: axis("share of assignments kept"), y: { label: "% that are wrong", range: [0, most] },
    lines: [{ points: points.map(({ coverage, risk }) => [coverage, 100 * risk]) }],
    dots: points.map((point) => ({ x: point.coverage, y: 100 * point.risk, radius: 3, title: said(point) })),
  });
  return card("Risk and coverage", [drawn, soft("Leaving out the least probable assignments, to the left, leaves fewer wrong ones.")]);
}
