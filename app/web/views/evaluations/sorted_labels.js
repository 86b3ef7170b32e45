/** The order of a report's labels. */

/** Labels whose name holds what is searched, in order of a column; what is not known comes last. */
export function sortedLabels(labels, { search = "", by = "support", isRising = false }) {
  const wanted = search.trim().toLowerCase(), sign = isRising ? 1 : -1;
  const found = labels.filter(({ label, name }) => `${label} ${name ?? ""}`.toLowerCase().includes(wanted));
  const order = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return found.sort((one, other) => {
    if (one[by] == null || other[by] == null) return (one[by] == null) - (other[by] == null);
    return sign * order(one[by], other[by]);
  });
}
