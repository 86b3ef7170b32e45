/** Sizes and times as people read them. */

const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** A size: `1.4 MB`. */
export function size(bytes) {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${power ? (bytes / 1000 ** power).toFixed(1) : bytes} ${UNITS[power]}`;
}

/** A time in the reader's own zone; what is no time stays as it is. */
export function moment(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : MOMENT.format(time);
}
