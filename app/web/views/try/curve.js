/** What a model's curve says: points from the most precise to the most complete. */

const DEVIATIONS_OF_90_PERCENT = 1.645;

/**
 * The points worth choosing, by rising recall: of several with equal precision the last. Each has
 * `f1`, `f1_interval` (as wide as both others allow together) and `labels` a document.
 */
export function choices({ points, label_cardinality: cardinality }) {
  const useful = points.filter((point, place) =>
    !points.slice(place + 1).some((later) => later.precision >= point.precision));
  return useful.map((point) => completed(point, cardinality));
}

/** A point with its `f1`, `f1_interval` and `labels`. */
export function completed(point, cardinality) {
  const { precision, recall, precision_interval: ps, recall_interval: rs } = point;
  return {
    ...point,
    f1: f1(precision, recall),
    f1_interval: ps && rs && [f1(ps[0], rs[0]), f1(ps[1], rs[1])],
    labels: precision && (cardinality * recall) / precision,
  };
}

const f1 = (precision, recall) =>
  (precision + recall ? (2 * precision * recall) / (precision + recall) : 0);

/**
 * How a request names a point: by its recall, or by its precision where the recall is higher than
 * the service promises. It takes deviations off before it calls a bound attainable.
 */
export function operatingPoint(point, all) {
  const promised = Math.max(...all.map(promisedRecall));
  const [name, bound] = point.recall > 0 && point.recall <= promised
    ? ["recall", point.recall] : ["precision", point.precision];
  return `${name}>=${bound.toFixed(12)}`;
}

function promisedRecall({ recall, recall_interval: interval }) {
  return interval ? recall - (recall - interval[0]) / DEVIATIONS_OF_90_PERCENT : recall;
}

/** The place of the point whose recall is nearest. */
export function nearest(all, recall) {
  const distances = all.map((point) => Math.abs(point.recall - recall));
  return distances.indexOf(Math.min(...distances));
}
