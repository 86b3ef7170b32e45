/** Numbers to places of a plot, and the round numbers that stand on its axes. */

/** Where a number stands between two places. */
export function scale([from, to], [start, end]) {
  const factor = to === from ? 0 : (end - start) / (to - from);
  return (value) => Math.round((start + (value - from) * factor) * 10) / 10;
}

/** At most `most` + 1 round numbers between two, at equal steps of 1, 2 or 5 times a power of 10. */
export function ticks([from, to], most = 5) {
  if (!(to > from)) return [from];
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}
