/** Numbers as people read them. */

/** A share in percent: `88.8 %`; what is not known is a dash. */
export function percent(share) {
  if (share == null) return "–";
  return share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}

/** An interval of shares in percent: `86.0 – 89.7`; nothing where it is not known. */
export const percentInterval = (interval) =>
  (interval ? interval.map((share) => (100 * share).toFixed(1)).join(" – ") : "");

/** A figure of a report with three decimals, as papers quote it: `0.868`; a dash where it is none. */
export const decimal = (value) => (value == null ? "–" : value.toFixed(3));

/** A whole number with separators: `5,460`. */
export const count = (number) => number.toLocaleString("en");

/** `1 label`, `2 labels`. */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** A signed number with three decimals and a true minus: `+0.865`, `−1.464`. */
export function signed(number) {
  const text = Math.abs(number).toFixed(3);
  return Number(text) === 0 ? text : `${number < 0 ? "−" : "+"}${text}`;
}
