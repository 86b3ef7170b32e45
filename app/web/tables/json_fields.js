/** The fields of a JSON object as cells, with lists and numbers as the command writes them. */

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** A Map of the object's keys, in order, to their texts; null is an empty cell. */
export function jsonFields(source) {
  if (JSON.parse(source)?.constructor !== Object) throw new SyntaxError("not an object");
  const tokens = source.match(TOKEN).reverse(); // the next one is the last
  const text = (token) => (token === "null" ? "" : token.startsWith('"') ? JSON.parse(token) : token);
  tokens.pop();
  return new Map([...members(tokens)].map(([key, value]) => [JSON.parse(key), text(value)]));
}

/** A number as Python prints it: 1.0, 1e+16, 1e-05; whole numbers as they stand. */
export function pythonNumber(token) {
  if (!/[.eE]/.test(token)) return token === "-0" ? "0" : token;
  const value = Number(token), [digits, power] = value.toExponential().split("e");
  if (value !== 0 && (power < -4 || power >= 16)) return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  const plain = Object.is(value, -0) ? "-0" : String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** The members of an object whose brace was taken: of equal keys the last counts. */
function members(tokens) {
  const found = new Map();
  for (let key = tokens.pop(); key !== "}"; key = tokens.pop()) {
    if (key === ",") continue;
    tokens.pop();
    found.set(JSON.stringify(JSON.parse(key)), valueOf(tokens));
  }
  return found;
}

function valueOf(tokens) {
  const token = tokens.pop();
  if (token === "{") return `{${[...members(tokens)].map((pair) => pair.join(": ")).join(", ")}}`;
  if (token === "[") return listOf(tokens);
  if (token.startsWith('"')) return JSON.stringify(JSON.parse(token));
  return /^[tfn]/.test(token) ? token : pythonNumber(token);
}

function listOf(tokens) {
  const items = [];
  while (tokens.at(-1) !== "]") {
    if (tokens.at(-1) === ",") tokens.pop();
    else items.push(valueOf(tokens));
  }
  tokens.pop();
  return `[${items.join(", ")}]`;
}
