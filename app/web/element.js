/** DOM nodes made from data; text stays text, whatever is in it. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. `onclick` and the like are listeners, `style` an object of properties (the
 * page's policy forbids the attribute), `true` an empty attribute; `false`, null and undefined
 * none. Children are nodes, texts, or lists of them; null and false are left out.
 */
export function element(tag, attributes = {}, children = []) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, children = []) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Put these children in the place of those a node has; the node. */
export function replace(node, children) {
  node.replaceChildren(...listed(children));
  return node;
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...listed(children));
  return node;
}

function set(node, name, value) {
  if (value === false || value == null) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "style") setStyle(node, value);
  else if (name === "value") node.value = value;
  else node.setAttribute(name, value === true ? "" : value);
}

function setStyle(node, properties) {
  for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value);
}

function listed(children) {
  return [children].flat(Infinity).filter((child) => child != null && child !== false);
}
