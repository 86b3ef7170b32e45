/** Shares of true labels over the probabilities they were said to have. */

import { count, percent } from "../numbers.js";
import { plot } from "./plot.js";

const UNIT = [0, 1];

/** The plot of bins, `{probability, share, pairs}`; larger dots hold more pairs, where bins differ. */
export function reliabilityPlot(bins) {
  const pairsOf = bins.map((bin) => bin.pairs), least = Math.min(...pairsOf), span = Math.max(...pairsOf) - least;
  const said = bins.map(({ share, probability }) => `${percent(share)} at ${percent(probability)}`);
  return plot({
    title: `Share of true labels by probability: ${said.join(", ")}.`,
    x: { label: "probability", range: UNIT }, y: { label: "share that is true", range: UNIT },
    lines: [{ points: [[0, 0], [1, 1]], kind: "faint" }, { points: bins.map((bin) => [bin.probability, bin.share]) }],
    dots: bins.map(({ probability, share, pairs }, place) => ({
      x: probability, y: share, radius: 3 + 6 * Math.sqrt((pairs - least) / (span || 1)), title: `${said[place]}, ${count(pairs)} pairs`,
    })),
  });
}
