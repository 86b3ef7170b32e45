/** The plots of a report. */

import { count, decimal } from "../../numbers.js";
import { card, soft } from "../../parts.js";
import { plot } from "../../plots/plot.js";

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
  const said = ({ pairs, probability, share }) =>
    `${count(pairs)} pairs said to be ${decimal(probability)}: ${decimal(share)} are true`;
  const drawn = plot({
    title: `Share of true labels by probability; the mean difference is ${decimal(ece)}.`,
    x: axis("probability"), y: axis("share that is true"),
    lines: [{ points: [[0, 0], [1, 1]], kind: "faint" }, { points: bins.map((bin) => [bin.probability, bin.share]) }],
    dots: bins.map((bin) => ({ x: bin.probability, y: bin.share, radius: 3, title: said(bin) })),
  });
  return card("Calibration", [drawn, soft(`Mean difference ${decimal(ece)}.`)]);
}
