/** The plots of a model and of a label: precision over recall, shares over probabilities. */

import { count, percent } from "../../numbers.js";
import { soft } from "../../parts.js";
import { plot } from "../../plots/plot.js";
import { reliabilityPlot } from "../../plots/reliability.js";

const UNIT = [0, 1];
const RECALL = { label: "recall", range: UNIT };
const PRECISION = { label: "precision", range: UNIT };

/** Expected precision along a model's stored curve, with its 90 % intervals as a band. */
export function curvePlot(curve) {
  if (!curve?.points?.length) {
    return soft("This version has no curve: it was not tuned on held-out documents, or labels were merged since.");
  }
  const { points, documents } = curve;
  const ends = [points[0], points.at(-1)].map(({ precision, recall }) => `${percent(precision)} at recall ${percent(recall)}`);
  const sure = points.filter((point) => point.precision_interval);
  return [
    plot({
      title: `Expected precision over recall: from ${ends.join(" to ")}.`, x: RECALL, y: PRECISION,
      bands: [sure.map((point) => [point.recall, ...point.precision_interval])],
      lines: [{ points: points.map((point) => [point.recall, point.precision]) }],
    }),
    soft(`What to expect of new documents, by ${count(documents)} held-out ones; the band holds nine of ten test sets.`),
  ];
}

/** How many pairs are true beside how probable they are said to be. */
export function calibrationPlot(bins) {
  if (!bins?.length) return soft("This model has no calibration: its answers have no probabilities.");
  return [
    reliabilityPlot(bins),
    soft("On the held-out documents that probabilities were fitted on; larger dots hold more pairs. "
      + "An evaluation shows it on new ones."),
  ];
}

/** A label's own precision over recall along its hull, its cut as a dot. */
export function labelPlot({ hull, positives, tp, fp }) {
  const place = (point) => ({ x: point.tp / positives, y: point.tp / (point.tp + point.fp) });
  const points = hull.filter((point) => point.tp).map(place);
  if (!points.length) return soft("No held-out document has this label.");
  const dots = points.map(({ x, y }) => ({ x, y, radius: 2.5, title: `recall ${percent(x)}, precision ${percent(y)}` }));
  if (tp) dots.push({ ...place({ tp, fp }), radius: 6, kind: "chosen", title: "the cut" });
  return plot({
    title: `Precision over recall of this label at ${points.length} cuts.`, x: RECALL, y: PRECISION,
    lines: [{ points: [[0, points[0].y], ...points.map(({ x, y }) => [x, y])] }], dots,
  });
}
