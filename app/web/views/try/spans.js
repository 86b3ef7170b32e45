/** Where terms stand in a text, as pieces of it that can be tinted. */

/** Pieces that are tinted at most: a text of a million characters has no more nodes than this. */
export const MOST_PIECES = 600;

/**
 * The text in pieces `{ text, weight }`, one after another. A piece's weight is the sum of all
 * terms that lie over it; 0: none. `at` counts code points, JavaScript's strings UTF-16 units.
 */
export function pieces(text, reasons) {
  const edges = edgesOf(reasons);
  const places = unitsOf(text, [...edges.keys()]);
  const found = [];
  let [begin, weight] = [0, 0];
  for (const [place, end] of places) {
    if (found.length === MOST_PIECES) break;
    if (end > begin) found.push({ text: text.slice(begin, end), weight });
    begin = end;
    weight = edges.get(place).open ? weight + edges.get(place).added : 0;
  }
  if (begin < text.length) found.push({ text: text.slice(begin), weight: 0 });
  return found;
}

/** By place, in rising order: what is added to the weight there, and whether any term is open. */
function edgesOf(reasons) {
  const changes = new Map();
  const change = (place, added, opened) => {
    const known = changes.get(place) ?? { added: 0, opened: 0 };
    changes.set(place, { added: known.added + added, opened: known.opened + opened });
  };
  for (const { weight, at } of reasons) {
    for (const [begin, end] of at ?? []) {
      change(begin, weight, 1);
      change(end, -weight, -1);
    }
  }
  let open = 0;
  return new Map([...changes].sort(([one], [other]) => one - other).map(([place, { added, opened }]) => {
    open += opened;
    return [place, { added, open: open > 0 }];
  }));
}

/** Pairs of a place in code points, which rise, and the same in UTF-16 units. */
function unitsOf(text, places) {
  const found = [];
  let [points, units] = [0, 0];
  for (const place of places) {
    while (points < place && units < text.length) {
      units += text.codePointAt(units) > 0xffff ? 2 : 1;
      points += 1;
    }
    found.push([place, units]);
  }
  return found;
}
