/** Addresses behind the `#`: which view they name, with which parameters. */

/** The link to a view: `address(["models", name])`, a query behind it. */
export function address(segments, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const behind = given.length ? `?${new URLSearchParams(given)}` : "";
  return `#/${segments.map(encodeURIComponent).join("/")}${behind}`;
}

/**
 * The view that a hash names, its parameters and query; null where none does. A view's path is
 * such as `models/:name`, and `""` is where one begins.
 */
export function matched(views, hash) {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const segments = path.split("/").filter(Boolean).map(decoded);
  for (const view of views) {
    const parameters = parametersOf(view.path.split("/"), segments);
    if (parameters) return { view, parameters, query: new URLSearchParams(query) };
  }
  return null;
}

function parametersOf(pattern, segments) {
  if (pattern.length !== segments.length) return null;
  const parameters = {};
  for (const [place, word] of pattern.entries()) {
    if (word.startsWith(":")) parameters[word.slice(1)] = segments[place];
    else if (word !== segments[place]) return null;
  }
  return parameters;
}

function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
